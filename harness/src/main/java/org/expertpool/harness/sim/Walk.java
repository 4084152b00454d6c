package org.expertpool.harness.sim;

import java.util.List;
import java.util.Optional;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.policy.RoutingEvent;

/** One pass over a trace with some policies side by side. */
final class Walk implements Runnable {
    private final EventReader reader;
    private final SimulationRequest request;
    private final int layers;
    private final List<PolicyRun> runs;
    private final Optional<FutureIndex> future;
    private boolean scored;

    /** @param future read ahead to the first event, for clairvoyant policies; this walk's own */
    Walk(RoutingTrace trace, SimulationRequest request, List<PolicyRun> runs, Optional<FutureIndex> future) {
        reader = new EventReader(trace, request.plannerLanes(trace.shape()));
        this.request = request;
        layers = trace.shape().layers();
        this.runs = runs;
        this.future = future;
    }

    @Override
    public void run() {
        ScoreWindow score = request.score();
        while (reader.nextForward() && !score.isOver(reader.forward(), reader.sequence())) {
            if (request.resetAtSequence() && reader.startsSequence() && reader.sequence() > 0) {
                future.ifPresent(FutureIndex::readAhead);
                runs.forEach(PolicyRun::reset);
            }
            scored = score.counts(reader.forward(), reader.sequence());
            if (!reader.isWide()) {
                plan();
            } else if (scored) {
                partition();
            }
        }
        runs.forEach(PolicyRun::check);
    }

    private void plan() {
        for (int layer = 0; layer < layers; layer++) {
            RoutingEvent event = reader.read(layer);
            future.ifPresent(index -> index.fill(event));
            for (PolicyRun run : runs) {
                run.plan(event, scored);
            }
        }
        if (scored) {
            runs.forEach(run -> run.endForward(reader.tokens()));
        }
    }

    private void partition() {
        for (int layer = 0; layer < layers; layer++) {
            RoutingEvent event = reader.read(layer);
            for (PolicyRun run : runs) {
                run.partition(event);
            }
        }
        runs.forEach(PolicyRun::endPartition);
    }
}
