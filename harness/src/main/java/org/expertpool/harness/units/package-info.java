/** Sizes as people write them. */
package org.expertpool.harness.units;
