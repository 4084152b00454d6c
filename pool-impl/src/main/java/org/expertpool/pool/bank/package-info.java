/** Expert rows: their layout in bytes and the host memory that holds all of them. */
package org.expertpool.pool.bank;
