package org.expertpool.pool;

/** A pool is not in the state it must be in: a table, a copy or a check failed. Names the row, layer and expert. */
public final class PoolFailureException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public PoolFailureException(String message) {
        super(message);
    }

    public PoolFailureException(String message, Throwable cause) {
        super(message, cause);
    }
}
