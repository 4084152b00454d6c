package org.expertpool.harness.sim;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.expertpool.harness.io.PathProblem;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;

/** Reads selection counts from CSV with the header {@code layer,expert,count}; an expert without a line has count 0. */
public final class ProfileFile {
    static final String HEADER = "layer,expert,count";

    private ProfileFile() {}

    /** Reads the counts for a trace of this shape; names file and line of what is wrong. */
    public static ExpertProfile read(Path file, TraceShape shape) {
        List<String> lines = lines(file);
        if (lines.isEmpty() || !lines.get(0).equals(HEADER)) {
            throw new BadInputException(file + ":1: expected the header " + HEADER);
        }
        long[] counts = new long[Math.multiplyExact(shape.layers(), shape.experts())];
        boolean[] given = new boolean[counts.length];
        for (int line = 2; line <= lines.size(); line++) {
            String[] fields = lines.get(line - 1).split(",", -1);
            if (fields.length != 3) {
                throw new BadInputException(file + ":" + line + ": " + fields.length + " fields, expected " + HEADER);
            }
            int layer = (int) number(file, line, "layer", fields[0], shape.layers() - 1);
            int expert = (int) number(file, line, "expert", fields[1], shape.experts() - 1);
            int key = layer * shape.experts() + expert;
            if (given[key]) {
                throw new BadInputException(
                        file + ":" + line + ": layer " + layer + ", expert " + expert + " is given twice");
            }
            given[key] = true;
            counts[key] = number(file, line, "count", fields[2], Long.MAX_VALUE);
        }
        return new ExpertProfile(shape.layers(), shape.experts(), counts);
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (NoSuchFileException absent) {
            throw new BadInputException(file + ": no such file, expected a profile with the header " + HEADER, absent);
        } catch (MalformedInputException binary) {
            throw new BadInputException(file + ": not UTF-8 text, expected CSV with the header " + HEADER, binary);
        } catch (IOException unreadable) {
            throw PathProblem.unreadable(file, unreadable);
        }
    }

    private static long number(Path file, int line, String field, String text, long max) {
        try {
            long value = Long.parseLong(text.strip());
            if (value >= 0 && value <= max) {
                return value;
            }
        } catch (NumberFormatException notWhole) {
            // the same message as for a number out of range
        }
        throw new BadInputException(
                file + ":" + line + ": " + field + " is \"" + text + "\", expected a whole number from 0 to " + max);
    }
}
