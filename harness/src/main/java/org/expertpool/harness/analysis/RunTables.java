package org.expertpool.harness.analysis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The counts of runs taken apart: by layer, by sequence, over time, and by the distance from a sequence's start. */
final class RunTables {
    private final List<String> identity;
    private final Table layers;
    private final Table sequences;
    private final Table overTime;
    private final Table afterStart;

    /** @param identity names of the leading columns, which say of which run a line is */
    RunTables(List<String> identity) {
        this.identity = List.copyOf(identity);
        layers = table("layers", "layer", "selections", "hits", "misses", "promoted", "hit_ratio");
        sequences = table("sequences", "sequence", "forwards", "tokens", "selections", "hits", "misses", "hit_ratio");
        overTime = table("over_time", "from_forward", "forwards", "sequence_starts", "selections", "hits", "hit_ratio");
        afterStart = table("after_start", "from_position", "forwards", "selections", "hits", "hit_ratio");
    }

    private Table table(String name, String... columns) {
        List<String> all = new ArrayList<>(identity);
        all.addAll(List.of(columns));
        return new Table(name, all, new ArrayList<>());
    }

    /** Adds the lines of one run. */
    void add(List<Object> values, RunCounts run) {
        add(layers, values, run.layers, Counts::selections, part -> part.hits, Counts::misses, part -> part.promoted);
        add(
                sequences,
                values,
                run.sequences,
                part -> part.forwards,
                part -> part.tokens,
                Counts::selections,
                part -> part.hits,
                Counts::misses);
        add(
                overTime,
                values,
                run.stretches,
                part -> part.forwards,
                part -> part.sequenceStarts,
                Counts::selections,
                part -> part.hits);
        add(
                afterStart,
                values,
                List.copyOf(run.positions.values()),
                part -> part.forwards,
                Counts::selections,
                part -> part.hits);
    }

    @SafeVarargs
    private static void add(Table table, List<Object> values, List<Counts> parts, ToLongFunction<Counts>... columns) {
        for (Counts part : parts) {
            List<Object> row = new ArrayList<>(values);
            row.add(part.number);
            for (ToLongFunction<Counts> column : columns) {
                row.add(column.applyAsLong(part));
            }
            row.add(part.hitRatio());
            table.add(row);
        }
    }

    List<Table> tables() {
        return List.of(layers, sequences, overTime, afterStart);
    }
}
