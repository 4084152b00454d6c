package org.expertpool.harness.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.expertpool.pool.BadInputException;

/** Memory of this machine that can still be had, asked before minutes are spent on filling it. */
public final class HostRam {
    private static final Pattern AVAILABLE = Pattern.compile("(?m)^MemAvailable:\\s+(\\d{1,15}) kB$");
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final Path LIMIT = Path.of("/sys/fs/cgroup/memory.max");
    private static final int KIB = 1024;

    private HostRam() {}

    /**
     * Refuses what would not fit. Where the system says nothing, nothing is refused.
     *
     * @throws BadInputException less is available
     */
    public static void require(String what, long bytes) {
        require(what, bytes, MEMINFO, LIMIT);
    }

    /** Bytes that {@link #require} would let through; empty where the system says nothing. */
    public static OptionalLong available() {
        return available(MEMINFO, LIMIT);
    }

    /**
     * @param meminfo of the kernel
     * @param limit of the control group: a number, or the word max
     */
    static void require(String what, long bytes, Path meminfo, Path limit) {
        long available = available(meminfo, limit).orElse(Long.MAX_VALUE);
        if (bytes > available) {
            throw new BadInputException(what + " take " + bytes + " bytes of host memory, expected at most the "
                    + available + " that are available");
        }
    }

    static OptionalLong available(Path meminfo, Path limit) {
        return LongStream.concat(
                        available(read(meminfo)).stream(), number(read(limit).strip()).stream())
                .min();
    }

    private static OptionalLong available(String meminfo) {
        Matcher line = AVAILABLE.matcher(meminfo);
        return line.find() ? OptionalLong.of(Long.parseLong(line.group(1)) * KIB) : OptionalLong.empty();
    }

    private static OptionalLong number(String text) {
        return text.matches("\\d{1,18}") ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException absent) {
            return "";
        }
    }
}
