package org.expertpool.plots;

/** A results file that figures can't be drawn from; the message is one line that names file, line or column, and what was expected. */
public final class BadResultsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    public BadResultsException(String message) {
        super(message);
    }

    public BadResultsException(String message, Throwable cause) {
        super(message, cause);
    }
}
