package org.expertpool.harness.run;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsSchema;

/**
 * A statement about the results that must hold, written down with the definition.
 *
 * @param name what is claimed, in words
 * @param where column values that select the rows
 * @param metric the column that is looked at
 * @param min least value allowed; empty for no limit
 * @param max greatest value allowed; empty for no limit
 */
record Check(String name, Map<String, String> where, String metric, OptionalDouble min, OptionalDouble max) {
    Check {
        where = Map.copyOf(where);
        if (ResultsSchema.column(metric).isEmpty()) {
            throw new IllegalArgumentException("no column " + metric);
        }
    }

    /** What came of a check: how many rows it looked at, and those that broke it. */
    record Outcome(Check check, int rows, List<String> violations) {
        boolean holds() {
            return violations.isEmpty();
        }

        /** One line for the report. */
        String line() {
            String verdict = rows == 0 ? "not applicable (no row selected)" : holds() ? "holds" : "FAILS";
            String detail = holds() ? "" : ": " + String.join("; ", violations);
            return check.name() + " - " + verdict + (rows == 0 ? "" : ", " + rows + " rows") + detail;
        }
    }

    /** Looks at the ok rows of the run itself; reported rows are not judged. */
    Outcome apply(List<ResultRow> rows) {
        List<ResultRow> selected = rows.stream().filter(this::selects).toList();
        List<String> violations = selected.stream()
                .filter(row -> !within(row.number(metric)))
                .map(row -> row.text("cell") + " has " + metric + " '" + row.text(metric) + "'")
                .toList();
        return new Outcome(this, selected.size(), violations);
    }

    private boolean selects(ResultRow row) {
        return row.isOk()
                && !row.text("basis").equals("reported")
                && where.entrySet().stream()
                        .allMatch(entry -> row.text(entry.getKey()).equals(entry.getValue()));
    }

    private boolean within(OptionalDouble value) {
        return value.isPresent()
                && (min.isEmpty() || value.getAsDouble() >= min.getAsDouble())
                && (max.isEmpty() || value.getAsDouble() <= max.getAsDouble());
    }
}
