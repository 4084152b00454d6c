package org.expertpool.harness.sim;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/**
 * A placement kept from one simulation to start another with: CSV {@code layer,expert,count}, a line for each resident
 * expert, in order. The count is the number of the step that last selected it, counted from 2, or 1 if none did: a start
 * from these counts gives up the longest unused first. The form is that of {@link ProfileFile}.
 */
public final class PlacementFile {
    private PlacementFile() {}

    /** Runs the request's one policy at its one number of rows and gives the placement at the end. */
    public static String write(RoutingTrace trace, SimulationRequest request) {
        requireOne("policy", request.policies().size());
        int rows = oneRow(request);
        ObservedRun run = new ObservedRun(trace, request, request.policies().get(0), rows);
        PoolConfig pool = run.setup().pool();
        LastSelections last = new LastSelections(pool);
        PlacementPolicy policy = run.run(List.of(last));
        StringBuilder csv = new StringBuilder(ProfileFile.HEADER).append('\n');
        for (int key = 0; key < pool.keys(); key++) {
            int layer = key / pool.experts();
            int expert = key % pool.experts();
            if (policy.isResident(layer, expert)) {
                csv.append(layer)
                        .append(',')
                        .append(expert)
                        .append(',')
                        .append(last.step[key])
                        .append('\n');
            }
        }
        return csv.toString();
    }

    /** Reads a placement for the request's one number of rows; names file and line of what is wrong. */
    public static ExpertProfile read(Path file, TraceShape shape, SimulationRequest request) throws IOException {
        int rows = Math.min(oneRow(request), shape.experts() - 1);
        ExpertProfile placement = ProfileFile.read(file, shape);
        long resident =
                Arrays.stream(placement.counts()).filter(count -> count > 0).count();
        long expected = (long) shape.layers() * rows;
        if (resident != expected) {
            throw new BadInputException(file + ": " + resident + " resident experts, expected " + expected + " for "
                    + shape.layers() + " layers x " + rows + " rows");
        }
        return placement;
    }

    private static int oneRow(SimulationRequest request) {
        requireOne("number of rows", request.rows().size());
        return request.rows().get(0);
    }

    private static void requireOne(String what, int given) {
        if (given != 1) {
            throw new BadInputException("placement: " + given + " given, expected one " + what);
        }
    }

    /** The step that last selected each expert. */
    private static final class LastSelections implements StepObserver {
        private final PoolConfig pool;
        private final long[] step; // [L*E]
        private long steps = 1;

        LastSelections(PoolConfig pool) {
            this.pool = pool;
            step = new long[pool.keys()];
            Arrays.fill(step, 1);
        }

        @Override
        public void step(RoutingEvent event, StepTally tally) {
            steps++;
            for (int i = 0; i < event.size; i++) {
                step[pool.key(event.layer, event.experts[i])] = steps;
            }
        }
    }
}
