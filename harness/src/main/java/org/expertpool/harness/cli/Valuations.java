package org.expertpool.harness.cli;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import org.expertpool.harness.analysis.Pricing;
import org.expertpool.harness.sim.Bounds;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Valuation;
import org.expertpool.harness.trace.RoutingTrace;

/** Parts of the misses, bytes and modelled times of simulated results, as far as they were asked for. */
final class Valuations {
    private final RoutingTrace trace;
    private final SimulationRequest request;
    private final Optional<Pricing> pricing;
    private final Map<List<Object>, Bounds> bounds = new ConcurrentHashMap<>(); // by rows, scope and start

    Valuations(RoutingTrace trace, SimulationRequest request, Optional<Pricing> pricing) {
        this.trace = trace;
        this.request = request;
        this.pricing = pricing;
        pricing.ifPresent(prices -> prices.requireShape(trace.shape()));
    }

    /** Runs the bounds of all these results, at their own rows, scope and start, as many at a time as there are cores. */
    void bound(List<SimulationResult> results) {
        results.parallelStream().forEach(result -> bounds.computeIfAbsent(key(result), key -> boundsOf(result)));
    }

    private static List<Object> key(SimulationResult result) {
        return List.of(result.rowsPerLayer(), result.scope(), result.initial());
    }

    private Bounds boundsOf(SimulationResult result) {
        SimulationRequest same = request.withScope(result.scope()).withInitial(result.initial());
        return Bounds.of(trace, same, result.rowsPerLayer());
    }

    Valuation of(SimulationResult result) {
        return new Valuation(
                Optional.ofNullable(bounds.get(key(result))).map(known -> known.gap(result.misses())),
                optional(pricing.map(prices -> prices.bytesPerToken(result.misses(), result.tokens()))),
                optional(pricing.map(
                        prices -> prices.millisPerToken(result.steps(), result.forwards(), result.tokens()))));
    }

    private static OptionalDouble optional(Optional<Double> value) {
        return value.map(OptionalDouble::of).orElseGet(OptionalDouble::empty);
    }
}
