package org.expertpool.pool.lifecycle;

import org.expertpool.pool.bank.ExpertRowLayout;

/**
 * One MoE layer as a model declares it.
 *
 * @param experts routed experts
 * @param topK experts per token
 * @param row shape of an expert's row
 * @param elementType type of the activations and outputs, such as {@code bf16}
 */
public record MoeLayer(int experts, int topK, ExpertRowLayout row, String elementType) {}
