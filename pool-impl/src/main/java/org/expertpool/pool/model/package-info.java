/** Model sizes and presets. */
package org.expertpool.pool.model;
