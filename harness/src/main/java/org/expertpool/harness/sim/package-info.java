/** Replays a routing trace through placement policies and counts hits, promotions and staged copies exactly. */
package org.expertpool.harness.sim;
