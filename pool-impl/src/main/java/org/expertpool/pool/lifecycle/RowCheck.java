package org.expertpool.pool.lifecycle;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.bank.Bank;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;

/**
 * A comparison of resident bank rows with their host rows, byte for byte.
 *
 * @param rowsPerLayer resident rows compared in each layer, or all where it has fewer
 * @param seed chooses which
 */
public record RowCheck(int rowsPerLayer, long seed) {
    /** What is compared before a gate opens unless asked otherwise. */
    public static final RowCheck SAMPLED = new RowCheck(4, 1);

    /** Every resident row. */
    public static final RowCheck ALL = new RowCheck(Integer.MAX_VALUE, 1);

    /** Throws {@link PoolFailureException} naming the row, layer, expert and first byte that differ. */
    public void require(PoolTables tables, Bank bank, HostSource source) {
        require(tables, bank::row, source);
    }

    /** As {@link #require(PoolTables, Bank, HostSource)} of a bank elsewhere; {@code bank} gives a row's bytes. */
    public void require(PoolTables tables, IntFunction<ByteBuffer> bank, HostSource source) {
        require(tables.config(), tables::hotRow, bank, source);
    }

    /** As {@link #require(PoolTables, IntFunction, HostSource)} of any placement; {@code hotRow} gives a key's row or -1. */
    public void require(PoolConfig config, IntUnaryOperator hotRow, IntFunction<ByteBuffer> bank, HostSource source) {
        Random random = new Random(seed);
        for (int layer = 0; layer < config.layers(); layer++) {
            List<Integer> resident = new ArrayList<>();
            for (int expert = 0; expert < config.experts(); expert++) {
                if (hotRow.applyAsInt(config.key(layer, expert)) != PoolTables.ABSENT) {
                    resident.add(expert);
                }
            }
            Collections.shuffle(resident, random);
            for (int expert : resident.subList(0, Math.min(rowsPerLayer, resident.size()))) {
                int row = hotRow.applyAsInt(config.key(layer, expert));
                compare(row, layer, expert, bank.apply(row), source.row(layer, expert));
            }
        }
    }

    private static void compare(int row, int layer, int expert, ByteBuffer actual, ByteBuffer expected) {
        int at = actual.mismatch(expected);
        if (at >= 0) {
            throw new PoolFailureException(String.format(
                    Locale.ROOT,
                    "row %d (layer %d, expert %d) differs from its host row at byte %d of %d",
                    row,
                    layer,
                    expert,
                    at,
                    expected.limit()));
        }
    }
}
