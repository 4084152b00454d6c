package org.expertpool.harness.trace;

/** Takes the forwards of a trace in order. */
public interface ForwardSink {
    /**
     * Appends one forward. The arrays are read before the call returns and may be reused and longer than needed.
     *
     * @param ids expert ids {@code [layers][tokens][topK]}, distinct within a token, in router order
     * @param weights router weights of the same shape, finite and not negative; null exactly where the trace has none
     * @throws IllegalArgumentException for a forward that the trace cannot hold; nothing of it is kept
     */
    void forward(ForwardHeader header, int[] ids, float[] weights);
}
