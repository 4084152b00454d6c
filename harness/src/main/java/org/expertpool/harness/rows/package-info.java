/** Expert rows for a device: made in pinned memory, or kept in files that successive processes map and pin. */
package org.expertpool.harness.rows;
