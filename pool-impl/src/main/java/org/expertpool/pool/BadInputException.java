package org.expertpool.pool;

/**
 * Something the user gave is wrong and the user can mend it: a file, a field, a line, an argument. The message is one
 * line that names the place, the value and what was expected; the command line prints it alone and exits with 2.
 */
public final class BadInputException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    public BadInputException(String message) {
        super(message);
    }

    public BadInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
