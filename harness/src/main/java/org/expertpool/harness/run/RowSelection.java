package org.expertpool.harness.run;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.expertpool.harness.record.ResultRow;

/**
 * Column values that select rows of a run. Rows that are not ok are never selected, reported rows only as a reference.
 *
 * @param values by column; none selects every row
 */
record RowSelection(Map<String, String> values) {
    RowSelection {
        values = Map.copyOf(values);
    }

    boolean selects(ResultRow row) {
        return !row.text("basis").equals("reported") && matches(row);
    }

    /** As {@link #selects}; reported rows as well where the basis is among the values. */
    boolean selectsReference(ResultRow row) {
        return values.containsKey("basis") ? matches(row) : selects(row);
    }

    private boolean matches(ResultRow row) {
        return row.isOk()
                && values.entrySet().stream()
                        .allMatch(entry -> row.text(entry.getKey()).equals(entry.getValue()));
    }

    @Override
    public String toString() {
        return new TreeMap<>(values)
                .entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .collect(Collectors.joining(","));
    }
}
