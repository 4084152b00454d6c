package org.expertpool.pool.cuda.engine;

/**
 * Device addresses of one layer call that is wider than the planner, or may be.
 *
 * @param tokens tokens, T
 * @param activations bf16 {@code [T, hidden]}
 * @param ids i32 {@code [T, topK]} experts as the router gave them; -1 for a lane that carries nothing
 * @param weights f32 {@code [T, topK]} router weights
 * @param out bf16 {@code [T, hidden]}
 */
public record WideCall(int tokens, long activations, long ids, long weights, long out) {}
