package org.expertpool.harness.run;

import java.nio.file.Path;
import java.util.List;
import org.expertpool.harness.record.ResultRow;

/**
 * What came of a run.
 *
 * @param directory where the results lie
 * @param rows all of them, earlier sessions' and reported ones included
 * @param checks of the definition, applied to these rows
 */
record RunOutcome(Path directory, List<ResultRow> rows, List<Check.Outcome> checks) {
    RunOutcome {
        rows = List.copyOf(rows);
        checks = List.copyOf(checks);
    }

    /** The outcome with the definition's checks applied to all rows. */
    static RunOutcome of(Path directory, Definition definition, List<ResultRow> rows) {
        return new RunOutcome(
                directory,
                rows,
                definition.checks().stream().map(check -> check.apply(rows)).toList());
    }

    long count(String status) {
        return rows.stream().filter(row -> row.text("status").equals(status)).count();
    }

    /** Nothing failed: no cell, no check. Refused and skipped cells are no failure. */
    boolean isSuccess() {
        return count("failed") == 0 && checks.stream().allMatch(Check.Outcome::holds);
    }
}
