package org.expertpool.harness.run;

/** What measures was lost with the cell under way: no later one can run. The message says how. */
final class RunEndedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RunEndedException(String message, Throwable cause) {
        super(message, cause);
    }
}
