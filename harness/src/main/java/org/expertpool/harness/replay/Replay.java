package org.expertpool.harness.replay;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.plan.Planner;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.TableCheck;

/** Runs a file of steps and control changes through a planner, which starts with the gate closed. */
public final class Replay {
    /** Bytes of tables for each key (three i32) and for each row (an i32 and an i64). */
    private static final long BYTES_PER_ENTRY = 12;

    private Replay() {}

    /**
     * Writes a JSON line for each step of the file.
     *
     * @throws BadInputException the file holds something else; what is written by then must be thrown away
     * @throws PoolFailureException the tables broke an invariant
     */
    public static void run(Path file, Planner planner, Writer out) throws IOException {
        PoolConfig config = planner.config();
        ReplaySession session = new ReplaySession(planner, out);
        try (ReplayReader reader = new ReplayReader(file, config)) {
            while (reader.next(session)) {
                // each line is handled as it is read
            }
        }
        TableCheck.firstViolation(planner.tables()).ifPresent(broken -> {
            throw new PoolFailureException("table check after " + file + ": " + broken);
        });
    }

    /** Refuses tables that would not fit this JVM, before a planner allocates them. */
    public static void requireMemory(PoolConfig config) {
        long tableBytes = BYTES_PER_ENTRY * ((long) config.keys() + config.bankRows());
        long heapBytes = Runtime.getRuntime().maxMemory();
        if (tableBytes > heapBytes / 2) {
            throw new BadInputException("layers is " + config.layers() + " and experts is " + config.experts()
                    + ": tables of " + tableBytes + " bytes, expected at most half of this JVM's heap of " + heapBytes);
        }
    }
}
