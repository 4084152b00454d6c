/**
 * Runs a trace through an engine with real arithmetic and hashes what comes out, so that placements can be compared by
 * equality of every output bit.
 */
package org.expertpool.harness.exact;
