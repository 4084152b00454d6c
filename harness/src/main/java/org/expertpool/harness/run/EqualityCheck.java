package org.expertpool.harness.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.expertpool.harness.record.ResultRow;

/**
 * A column has the same value in each row as in the reference row of its group. A group whose reference did not run
 * (refused, or in another shard) is not judged, and the report says so.
 *
 * @param where the rows that are judged
 * @param column the column that is compared, as text; a row without a value breaks the check
 * @param reference the rows that the others are compared with; among them, one with another value than the first breaks
 *     the check as well
 * @param per columns whose values group the rows
 */
record EqualityCheck(String name, RowSelection where, String column, RowSelection reference, List<String> per)
        implements Check {
    EqualityCheck {
        per = List.copyOf(per);
    }

    @Override
    public Outcome apply(List<ResultRow> rows) {
        Map<String, List<ResultRow>> groups = new LinkedHashMap<>();
        for (ResultRow row : rows) {
            if (where.selects(row)) {
                groups.computeIfAbsent(group(row), any -> new ArrayList<>()).add(row);
            }
        }
        int judged = 0;
        List<String> violations = new ArrayList<>();
        List<String> notJudged = new ArrayList<>();
        for (Map.Entry<String, List<ResultRow>> group : groups.entrySet()) {
            Optional<ResultRow> first =
                    group.getValue().stream().filter(reference::selects).findFirst();
            if (first.isEmpty()) {
                notJudged.add(group.getKey() + " has no row with " + reference + " to compare with");
                continue;
            }
            judged += group.getValue().size();
            group.getValue().stream()
                    .filter(row -> row.get(column).isEmpty()
                            || !row.get(column).equals(first.get().get(column)))
                    .map(row -> row.text("cell") + " has another " + column + " than "
                            + first.get().text("cell"))
                    .forEach(violations::add);
        }
        return new Outcome(name, judged, violations, notJudged);
    }

    private String group(ResultRow row) {
        return per.isEmpty()
                ? "the run"
                : per.stream().map(key -> key + "=" + row.text(key)).collect(Collectors.joining(","));
    }
}
