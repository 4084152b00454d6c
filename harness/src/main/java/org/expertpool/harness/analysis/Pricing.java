package org.expertpool.harness.analysis;

import java.util.Optional;
import org.expertpool.harness.cost.CostModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;

/**
 * What turns counts into bytes and, with a device, into time.
 *
 * @param model the model that the trace is of
 * @param device absent: bytes alone
 * @param contextTokens tokens in the KV cache
 */
public record Pricing(ModelGeometry model, Optional<DeviceProfile> device, long contextTokens) {
    public Pricing {
        if (contextTokens < 0) {
            throw new BadInputException("context is " + contextTokens + " tokens, expected at least 0");
        }
    }

    /** Refuses a trace of another shape than the model's. */
    public void requireShape(TraceShape trace) {
        if (trace.layers() != model.layers() || trace.experts() != model.experts() || trace.topK() != model.topK()) {
            throw new BadInputException("trace: " + words(trace.layers(), trace.experts(), trace.topK()) + ", expected "
                    + words(model.layers(), model.experts(), model.topK()) + " of model " + model.name());
        }
    }

    private static String words(int layers, int experts, int topK) {
        return layers + " layers, " + experts + " experts, top " + topK;
    }

    /** Bytes of missed rows per token; null where there are no tokens. */
    public Double bytesPerToken(long misses, long tokens) {
        return Counts.per(Math.multiplyExact(misses, model.rowBytes()), tokens);
    }

    /** Modelled milliseconds per token, whole decode graphs; null without a device or tokens. */
    public Double millisPerToken(StepHistogram steps, long forwards, long tokens) {
        if (device.isEmpty() || forwards == 0) {
            return null;
        }
        CostModel cost = new CostModel(model, device.get());
        double micros = cost.decodeMicros(GraphMode.FULL_DECODE, steps, contextTokens);
        return micros / 1e3 * forwards / tokens;
    }
}
