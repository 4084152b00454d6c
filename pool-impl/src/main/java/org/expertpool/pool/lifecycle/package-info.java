/** A pool's life: guards, installation, checks, gate, steps with their copies. */
package org.expertpool.pool.lifecycle;
