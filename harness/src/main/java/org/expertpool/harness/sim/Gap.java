package org.expertpool.harness.sim;

/**
 * Where the misses of a policy come from; the four add up to them, and all but the first can be negative.
 *
 * @param compulsory first selections of experts that were not resident at the start
 * @param capacity what Belady with bypass misses beyond them
 * @param admission what Belady misses beyond that for having to give each miss a row
 * @param victim what the policy misses beyond that
 */
public record Gap(long compulsory, long capacity, long admission, long victim) {}
