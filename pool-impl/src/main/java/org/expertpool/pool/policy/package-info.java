/** Placement rules: promotion and eviction, each under its published name. */
package org.expertpool.pool.policy;
