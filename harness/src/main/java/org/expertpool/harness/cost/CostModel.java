package org.expertpool.harness.cost;

import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.pool.model.ModelGeometry;

/**
 * The modelled time of a decode forward: planner, row copies, MoE GEMMs, dense weights, KV cache, launches. The order
 * is that of pool-semantics section 5, one stream; what runs beside a layer's copies is one constant of the profile. All
 * times are in microseconds.
 */
public final class CostModel {
    private static final double BYTES_PER_US_PER_GB_PER_S = 1e3;

    /** What a forward does beside its routed experts, as the device backend stands in for it. */
    public enum Beside {
        NOTHING,
        /** One read of each layer's dense weights. */
        DENSE_READ,
        WHOLE_MODEL
    }

    private final ModelGeometry model;
    private final DeviceProfile device;
    private final Beside beside;
    private final double rowBytes;

    public CostModel(ModelGeometry model, DeviceProfile device) {
        this(model, device, Beside.WHOLE_MODEL);
    }

    public CostModel(ModelGeometry model, DeviceProfile device, Beside beside) {
        this.model = model;
        this.device = device;
        this.beside = beside;
        this.rowBytes = model.rowBytes();
    }

    /** Device time of one layer's MoE with {@code selected} distinct experts, {@code misses} of them copied first. */
    public double poolLayerMicros(double selected, int misses) {
        return plannerMicros(misses) + copyMicros(misses) + moeMicros(selected);
    }

    /** Device time of one layer's MoE whose rows are all read over the link by the GEMM itself. */
    public double uvaLayerMicros(double selected) {
        return device.value("moe_fixed_us") + transferMicros(selected * rowBytes, "zero_copy_gb_per_s");
    }

    /**
     * Mean time of a forward over the layer calls of a simulation.
     *
     * @param contextTokens tokens in the KV cache, each read once
     */
    public double decodeMicros(GraphMode mode, StepHistogram steps, long contextTokens) {
        return decodeTime(mode, steps, contextTokens).total();
    }

    /** As {@link #decodeMicros}, by what the time is spent on. */
    public DecodeTime decodeTime(GraphMode mode, StepHistogram steps, long contextTokens) {
        var sum = new Object() {
            double planner;
            double copy;
            double moe;
            long steps;
        };
        steps.forEach((selected, misses, count) -> {
            sum.planner += count * plannerMicros(misses);
            sum.copy += count * bareCopyMicros(misses);
            sum.moe += count * moeMicros(selected);
            sum.steps += count;
        });
        if (sum.steps == 0) {
            throw new IllegalArgumentException("no layer calls to model");
        }
        double forwards = (double) sum.steps / model.layers();
        return forward(mode, sum.planner / forwards, sum.copy / forwards, sum.moe / forwards, contextTokens);
    }

    /** Time of a forward with the rows of {@code hostLayers} layers on the host (a fraction is allowed), the others resident. */
    public double uvaDecodeMicros(GraphMode mode, double hostLayers, long contextTokens) {
        double moe =
                hostLayers * uvaLayerMicros(model.topK()) + (model.layers() - hostLayers) * moeMicros(model.topK());
        return forward(mode, 0, 0, moe, contextTokens).total();
    }

    /** A forward whose MoE layers take so long together on the device. */
    private DecodeTime forward(GraphMode mode, double planner, double copy, double moe, long contextTokens) {
        double dense = beside == Beside.NOTHING
                ? 0
                : transferMicros((double) model.denseBytesPerLayer() * model.layers(), "hbm_read_gb_per_s");
        double kv = beside == Beside.WHOLE_MODEL
                ? transferMicros((double) model.kvBytesPerToken() * contextTokens, "hbm_read_gb_per_s")
                : 0;
        double launches = model.layers() * (denseKernels() * device.value("graph_node_us") + eagerGaps(mode));
        // The host runs ahead of the device: the longer of the two is what a forward takes.
        double hostWait = Math.max(0, hostMicros(mode) - (planner + copy + moe + dense + kv + launches));
        double engine = beside == Beside.WHOLE_MODEL ? device.value("engine_us_per_forward") : 0;
        return new DecodeTime(planner, copy, moe, dense, kv, launches, hostWait, engine);
    }

    /** What kernels of a layer's experts that are launched one by one wait for each other beyond those of a graph. */
    private double eagerGaps(GraphMode mode) {
        boolean eager = mode == GraphMode.NONE || mode == GraphMode.PIECEWISE;
        return eager ? device.value("moe_kernels_per_layer") * device.value("eager_gap_us") : 0;
    }

    private double denseKernels() {
        return switch (beside) {
            case NOTHING -> 0;
            case DENSE_READ -> 1;
            case WHOLE_MODEL -> device.value("dense_kernels_per_layer");
        };
    }

    private double hostMicros(GraphMode mode) {
        double moeLaunches = device.value("moe_kernels_per_layer") * device.value("launch_us");
        return switch (mode) {
            case NONE -> model.layers() * (moeLaunches + denseKernels() * device.value("launch_us"));
            case PIECEWISE -> model.layers() * (moeLaunches + device.value("graph_launch_us"));
            case FULL_DECODE, FULL -> device.value("graph_launch_us");
        };
    }

    private double plannerMicros(int misses) {
        return misses == 0
                ? device.value("planner_hit_us")
                : device.value("planner_miss_base_us") + misses * device.value("planner_per_miss_us");
    }

    private double copyMicros(int misses) {
        return misses == 0
                ? device.value("copy_empty_us")
                : device.value("copy_latency_us") + transferMicros(misses * rowBytes, "zero_copy_gb_per_s");
    }

    /** What of the copies nothing runs beside: a kernel that reads missed rows itself computes hits meanwhile. */
    private double bareCopyMicros(int misses) {
        return Math.max(0, copyMicros(misses) - (misses > 0 ? device.value("overlap_us") : 0));
    }

    private double moeMicros(double rows) {
        return device.value("moe_fixed_us") + transferMicros(rows * rowBytes, "moe_gb_per_s");
    }

    private double transferMicros(double bytes, String rate) {
        return bytes / (device.value(rate) * BYTES_PER_US_PER_GB_PER_S);
    }
}
