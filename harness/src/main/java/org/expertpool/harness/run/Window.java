package org.expertpool.harness.run;

import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.pool.policy.Initial;

/**
 * Where a replay starts and which part of it counts.
 *
 * @param name {@code warm}, {@code cold}, or {@code unseen}: warm, and no part of what a frozen profile was taken from
 * @param initial what is resident before the first forward
 * @param score the part of the trace that is counted
 * @param resetAtSequence whether each sequence starts from the initial placement again
 */
record Window(String name, Initial initial, ScoreWindow score, boolean resetAtSequence) {}
