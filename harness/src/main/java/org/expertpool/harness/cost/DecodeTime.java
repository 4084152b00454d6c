package org.expertpool.harness.cost;

/**
 * The modelled time of a decode forward by what it is spent on, all layers together, in microseconds.
 *
 * @param planner planning
 * @param copy missed rows over the link
 * @param moe expert GEMMs, which read the selected rows from the GPU's memory
 * @param dense weights outside the routed experts, read once
 * @param kv KV cache, read once
 * @param launches gaps between the kernels on the device
 * @param hostWait time that the device waits for the host's launches; 0 where the host runs ahead
 * @param engine the engine around the model
 */
public record DecodeTime(
        double planner,
        double copy,
        double moe,
        double dense,
        double kv,
        double launches,
        double hostWait,
        double engine) {
    /** What a forward takes. */
    public double total() {
        return planner + copy + moe + dense + kv + launches + hostWait + engine;
    }
}
