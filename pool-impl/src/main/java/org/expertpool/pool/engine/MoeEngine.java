package org.expertpool.pool.engine;

/** Runs the routed experts of one MoE layer. What a lane gives depends on its own inputs and its expert alone. */
public interface MoeEngine {
    /**
     * One layer call.
     *
     * @param layer the layer, in {@code [0, layers)}
     * @param activations bf16 or fp16, as the rows are made for, {@code [tokens, hidden]}
     * @param ids routed expert ids {@code [tokens, topK]} as the router gave them; invalid ones contribute nothing
     * @param weights router weights {@code [tokens, topK]}
     * @return {@code [tokens, hidden]} of the same type, a new array; zero for a token without a valid lane
     */
    short[] forward(int layer, short[] activations, int[] ids, float[] weights);
}
