package org.expertpool.harness.io;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Locale;
import org.expertpool.pool.BadInputException;

/** What is wrong with a file, in words: the exceptions of paths say it by their class, and often by nothing else. */
public final class PathProblem {
    private PathProblem() {}

    /** What to throw where an input is there but cannot be read. */
    public static BadInputException unreadable(Object file, IOException failure) {
        return new BadInputException(file + ": cannot be read: " + of(failure), failure);
    }

    /** The reason alone, without the path, such as {@code access denied}. */
    public static String of(IOException failure) {
        String reason = failure instanceof FileSystemException path ? path.getReason() : failure.getMessage();
        if (reason != null) {
            return reason;
        }
        String problem = failure.getClass().getSimpleName().replaceFirst("Exception$", "");
        return problem.replaceAll("(?<=[a-z])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    }
}
