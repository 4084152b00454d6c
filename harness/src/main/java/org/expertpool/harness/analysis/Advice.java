package org.expertpool.harness.analysis;

import java.util.List;
import org.expertpool.harness.cost.DecodeTime;

/**
 * What to expect of a model, a card, a context and a trace. Basis: modelled.
 *
 * @param rowsPerLayer the largest N beside the context
 * @param policy full name
 * @param hitRatio of the scored forwards
 * @param tokensPerSecond expected decode speed
 * @param low lower end of a 95 % interval over parts of the trace
 * @param high its upper end
 * @param resampled what the interval resamples, in words
 * @param time mean time of a forward, in microseconds
 * @param limits what a change of each limit would bring, most first; the first one is what limits
 */
public record Advice(
        int rowsPerLayer,
        String policy,
        Double hitRatio,
        double tokensPerSecond,
        double low,
        double high,
        String resampled,
        DecodeTime time,
        List<Limit> limits) {
    public Advice {
        limits = List.copyOf(limits);
    }

    /**
     * One limit.
     *
     * @param name link, HBM, launches or capacity
     * @param change the change that is tried, in words
     * @param tokensPerSecond speed with it
     */
    public record Limit(String name, String change, double tokensPerSecond) {}

    /** What limits the speed: the change that brings most. */
    public String limitedBy() {
        return limits.get(0).name();
    }
}
