package org.expertpool.harness.run;

import java.util.List;
import org.expertpool.harness.record.ResultRow;

/** A statement about the results that must hold, written down with the definition. */
sealed interface Check permits RangeCheck, EqualityCheck, RatioCheck {
    /** What is claimed, in words. */
    String name();

    /** Looks at the ok rows of the run itself; reported rows are not judged. */
    Outcome apply(List<ResultRow> rows);

    /**
     * What came of a check.
     *
     * @param rows how many rows it judged
     * @param found what it saw in rows that kept it, in words; empty where a report has no use for that
     * @param violations those that broke it, in words
     * @param notJudged what it could not judge and why, in words
     */
    record Outcome(String name, int rows, List<String> found, List<String> violations, List<String> notJudged) {
        public Outcome {
            found = List.copyOf(found);
            violations = List.copyOf(violations);
            notJudged = List.copyOf(notJudged);
        }

        Outcome(String name, int rows, List<String> violations, List<String> notJudged) {
            this(name, rows, List.of(), violations, notJudged);
        }

        boolean holds() {
            return violations.isEmpty();
        }

        /** One line for the report. */
        String line() {
            String verdict = !holds() ? "FAILS" : rows == 0 ? "not applicable (no row selected)" : "holds";
            return name + " - " + verdict + (rows == 0 ? "" : ", " + rows + " rows")
                    + listed(": ", violations)
                    + listed(violations.isEmpty() ? ": " : "; kept by ", found)
                    + listed("; not judged: ", notJudged);
        }

        private static String listed(String before, List<String> items) {
            return items.isEmpty() ? "" : before + String.join("; ", items);
        }
    }
}
