/** Why a hit ratio is what it is: where the misses come from, how a trace reuses experts, and what to do about it. */
package org.expertpool.harness.analysis;
