package org.expertpool.harness.run;

import java.util.List;
import java.util.OptionalDouble;
import org.expertpool.harness.record.ResultRow;

/**
 * A metric lies within limits.
 *
 * @param where the rows that are judged
 * @param metric the column that is looked at; a row without a value breaks the check
 * @param min least value allowed; empty for no limit
 * @param max greatest value allowed; empty for no limit
 */
record RangeCheck(String name, RowSelection where, String metric, OptionalDouble min, OptionalDouble max)
        implements Check {
    @Override
    public Outcome apply(List<ResultRow> rows) {
        List<ResultRow> selected = rows.stream().filter(where::selects).toList();
        List<String> violations = selected.stream()
                .filter(row -> !within(row.number(metric)))
                .map(row -> row.text("cell") + " has " + metric + " '" + row.text(metric) + "'")
                .toList();
        return new Outcome(name, selected.size(), violations, List.of());
    }

    private boolean within(OptionalDouble value) {
        return value.isPresent()
                && (min.isEmpty() || value.getAsDouble() >= min.getAsDouble())
                && (max.isEmpty() || value.getAsDouble() <= max.getAsDouble());
    }
}
