package org.expertpool.harness.run;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Locale;

/** One line on a terminal that says how far a run is and how long it will still take; silent anywhere else. */
final class Progress implements AutoCloseable {
    private static final int CLEAR_WIDTH = 100;

    private final PrintStream out;
    private final boolean shown;
    private final int total;
    private final Clock clock;
    private final long startMillis;
    private int done;

    Progress(PrintStream out, boolean shown, int total, Clock clock) {
        this.out = out;
        this.shown = shown;
        this.total = total;
        this.clock = clock;
        this.startMillis = clock.millis();
    }

    /** Whether standard error is a terminal. {@code System.console()} looks at other streams, and differs by JDK. */
    static boolean standardErrorIsTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException | RuntimeException notLinux) {
            return false;
        }
    }

    /** One more row is written. */
    void advance(String cell) {
        done++;
        if (shown) {
            String line = String.format(Locale.ROOT, "%d/%d rows, %s left, %s", done, total, timeLeft(), cell);
            out.print("\r" + pad(line.length() > CLEAR_WIDTH ? line.substring(0, CLEAR_WIDTH) : line));
            out.flush();
        }
    }

    /** Time left at the rate so far, such as {@code 1m05s}. */
    String timeLeft() {
        long elapsed = clock.millis() - startMillis;
        Duration left = Duration.ofMillis(done == 0 ? 0 : elapsed * (total - done) / done);
        return left.toMinutes() > 0
                ? String.format(Locale.ROOT, "%dm%02ds", left.toMinutes(), left.toSecondsPart())
                : left.toSecondsPart() + "s";
    }

    private static String pad(String line) {
        return line + " ".repeat(CLEAR_WIDTH - line.length());
    }

    @Override
    public void close() {
        if (shown) {
            out.print("\r" + pad("") + "\r");
            out.flush();
        }
    }
}
