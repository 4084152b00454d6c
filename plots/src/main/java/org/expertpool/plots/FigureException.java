package org.expertpool.plots;

/** A figure that can't be drawn or written although its data is good: no fonts on this machine, a full disk. */
public final class FigureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FigureException(String message, Throwable cause) {
        super(message, cause);
    }
}
