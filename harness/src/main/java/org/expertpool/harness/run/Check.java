package org.expertpool.harness.run;

import java.util.List;
import org.expertpool.harness.record.ResultRow;

/** A statement about the results that must hold, written down with the definition. */
sealed interface Check permits RangeCheck, EqualityCheck {
    /** What is claimed, in words. */
    String name();

    /** Looks at the ok rows of the run itself; reported rows are not judged. */
    Outcome apply(List<ResultRow> rows);

    /**
     * What came of a check.
     *
     * @param rows how many rows it judged
     * @param violations those that broke it, in words
     * @param notJudged what it could not judge and why, in words
     */
    record Outcome(String name, int rows, List<String> violations, List<String> notJudged) {
        public Outcome {
            violations = List.copyOf(violations);
            notJudged = List.copyOf(notJudged);
        }

        boolean holds() {
            return violations.isEmpty();
        }

        /** One line for the report. */
        String line() {
            String verdict = !holds() ? "FAILS" : rows == 0 ? "not applicable (no row selected)" : "holds";
            return name + " - " + verdict + (rows == 0 ? "" : ", " + rows + " rows")
                    + listed(": ", violations)
                    + listed("; not judged: ", notJudged);
        }

        private static String listed(String before, List<String> items) {
            return items.isEmpty() ? "" : before + String.join("; ", items);
        }
    }
}
