/** Turning checkpoint experts into Marlin rows on the device. */
package org.expertpool.pool.cuda.convert;
