/**
 * From routed lanes to blocks of bank rows: alignment of logical expert ids, physical remap, block size, partitions.
 */
package org.expertpool.pool.route;
