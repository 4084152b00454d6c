/** Locality statistics of a routing trace, and the published figures that they are compared with. */
package org.expertpool.harness.stats;
