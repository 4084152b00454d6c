package org.expertpool.harness.replay;

import java.io.IOException;
import java.io.Writer;
import java.util.Map;
import org.expertpool.pool.plan.Planner;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.StepPlan;

/** Hands each line to the planner and writes what a step decided. */
final class ReplaySession implements ReplayHandler {
    private final Planner planner;
    private final Writer out;

    ReplaySession(Planner planner, Writer out) {
        this.planner = planner;
        this.out = out;
    }

    @Override
    public void step(int layer, int[] ids, float[] weights, int lanes) throws IOException {
        StepPlan plan = planner.step(layer, ids, weights, lanes);
        PoolTables tables = planner.tables();
        StringBuilder line = new StringBuilder("{\"copies\":[");
        for (int copy = 0; copy < plan.copies(); copy++) {
            line.append(copy == 0 ? "[" : ",[");
            line.append(plan.copyExpert(copy))
                    .append(',')
                    .append(plan.copyRow(copy))
                    .append(']');
        }
        line.append("],\"promoted\":").append(plan.promoted());
        line.append(",\"staged\":").append(plan.staged());
        append(line.append(",\"routes\":"), plan.routes(), lanes);
        append(line.append(",\"safeIds\":"), plan.safeIds(), lanes);
        line.append(",\"error\":").append(tables.error());
        line.append(",\"clock\":").append(tables.clock());
        line.append(",\"forwards\":").append(tables.forwards());
        line.append(",\"tables\":\"").append(tables.sha256()).append("\"}\n");
        out.append(line);
    }

    @Override
    public void control(Map<String, Integer> changes) {
        planner.control(changes);
    }

    @Override
    public void clearError() {
        planner.clearError();
    }

    private static void append(StringBuilder line, int[] values, int count) {
        for (int i = 0; i < count; i++) {
            line.append(i == 0 ? '[' : ',').append(values[i]);
        }
        line.append(']');
    }
}
