/** What a layer does beside its experts: the router, and stand-ins for the rest. */
package org.expertpool.pool.cuda.model;
