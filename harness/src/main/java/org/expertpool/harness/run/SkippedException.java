package org.expertpool.harness.run;

/** A cell can't run on this machine because something it needs is absent; the message says what. */
final class SkippedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SkippedException(String message) {
        super(message);
    }
}
