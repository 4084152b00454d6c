/** Placement on the host: configuration, tables, controls, the reference planner and the table check. */
package org.expertpool.pool.plan;
