package org.expertpool.pool.plan;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;

/** The placement of a pool: which key owns which row, when each row was last used (pool-semantics 3). */
public final class PoolTables {
    /** No row, no host row, no owner. */
    public static final int ABSENT = -1;

    private static final int HASH_CHUNK_BYTES = 1 << 16;

    private final PoolConfig config;

    final int[] hotRow; // [L*E] row of the key, or ABSENT
    final int[] coldRow; // [L*E] host row of the key while not resident, else ABSENT
    final int[] rowKey; // [R] owner, or ABSENT; staging rows never have one
    final long[] rowUse; // [R] clock of the last selection; staging rows Long.MAX_VALUE, so never a victim
    final int[] missCount; // [L*E] misses since last resident
    long clock;
    int forwards;
    int error;

    /** The start placement: experts 0..n-1 of each layer are resident, in order. */
    public PoolTables(PoolConfig config) {
        this.config = config;
        hotRow = new int[config.keys()];
        coldRow = new int[config.keys()];
        rowKey = new int[config.bankRows()];
        rowUse = new long[config.bankRows()];
        missCount = new int[config.keys()];
        Arrays.fill(rowKey, ABSENT);
        Arrays.fill(rowUse, config.poolRows(), config.bankRows(), Long.MAX_VALUE);
        int resident = config.residentPerLayer();
        for (int layer = 0; layer < config.layers(); layer++) {
            for (int expert = 0; expert < config.experts(); expert++) {
                int key = config.key(layer, expert);
                boolean hot = expert < resident;
                int row = layer * resident + expert;
                hotRow[key] = hot ? row : ABSENT;
                coldRow[key] = hot ? ABSENT : expert;
                if (hot) {
                    rowKey[row] = key;
                }
            }
        }
    }

    /**
     * Another start: of each layer the given experts, at most n, in the first of its rows, in order; its other rows have no
     * owner.
     */
    public static PoolTables placed(PoolConfig config, IntFunction<int[]> residents) {
        PoolTables tables = new PoolTables(config);
        for (int row = 0; row < config.poolRows(); row++) {
            tables.evict(tables.rowKey[row]);
            tables.rowKey[row] = ABSENT;
        }
        for (int layer = 0; layer < config.layers(); layer++) {
            int[] experts = residents.apply(layer);
            Objects.checkFromToIndex(0, experts.length, config.residentPerLayer());
            for (int i = 0; i < experts.length; i++) {
                tables.own(tables.requireExpert(layer, experts[i]), layer * config.residentPerLayer() + i);
            }
        }
        return tables;
    }

    public PoolConfig config() {
        return config;
    }

    /** Row of the key, or {@link #ABSENT}. */
    public int hotRow(int key) {
        return hotRow[key];
    }

    /** Host row of the key (its expert id) while it is not resident, else {@link #ABSENT}. */
    public int coldRow(int key) {
        return coldRow[key];
    }

    /** Owner key of the row, or {@link #ABSENT}. */
    public int rowKey(int row) {
        return rowKey[row];
    }

    /** Clock of the row's last selection; {@code Long.MAX_VALUE} for staging rows. */
    public long rowUse(int row) {
        return rowUse[row];
    }

    /** Misses of the key since it was last resident. */
    public int missCount(int key) {
        return missCount[key];
    }

    /** Steps planned with the gate open. */
    public long clock() {
        return clock;
    }

    /** Forwards begun with the gate open. */
    public int forwards() {
        return forwards;
    }

    /** 0, or 1 since an invalid lane was seen. */
    public int error() {
        return error;
    }

    /** SHA-256 in hex of hotRow, coldRow, rowKey, rowUse, missCount in this order, little-endian. */
    public String sha256() {
        MessageDigest digest = newDigest();
        ByteBuffer chunk = ByteBuffer.allocate(HASH_CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        update(digest, chunk, hotRow);
        update(digest, chunk, coldRow);
        update(digest, chunk, rowKey);
        update(digest, chunk, rowUse);
        update(digest, chunk, missCount);
        return HexFormat.of().formatHex(digest.digest());
    }

    /** The first entry or counter in which the actual tables differ from these, in words; same shape. */
    public Optional<String> firstDifference(PoolTables actual) {
        return difference("clock", clock, actual.clock)
                .or(() -> difference("forwards", forwards, actual.forwards))
                .or(() -> difference("error", error, actual.error))
                .or(() -> difference("hotRow", hotRow, actual.hotRow))
                .or(() -> difference("coldRow", coldRow, actual.coldRow))
                .or(() -> difference("rowKey", rowKey, actual.rowKey))
                .or(() -> {
                    int at = Arrays.mismatch(rowUse, actual.rowUse);
                    return at < 0 ? Optional.empty() : difference("rowUse[" + at + "]", rowUse[at], actual.rowUse[at]);
                })
                .or(() -> difference("missCount", missCount, actual.missCount));
    }

    private static Optional<String> difference(String name, int[] expected, int[] actual) {
        int at = Arrays.mismatch(expected, actual);
        return at < 0 ? Optional.empty() : difference(name + "[" + at + "]", expected[at], actual[at]);
    }

    private static Optional<String> difference(String name, long expected, long actual) {
        return expected == actual ? Optional.empty() : Optional.of(name + " is " + actual + ", expected " + expected);
    }

    /** Takes the placement and counters of another planner's memory. */
    public void read(TableImage image, long newClock, int newForwards, int newError) {
        image.hotRow().get(0, hotRow);
        image.coldRow().get(0, coldRow);
        image.rowKey().get(0, rowKey);
        image.rowUse().get(0, rowUse);
        image.missCount().get(0, missCount);
        clock = newClock;
        forwards = newForwards;
        error = newError;
    }

    /** Writes the placement, without the counters. */
    public void write(TableImage image) {
        image.hotRow().put(0, hotRow);
        image.coldRow().put(0, coldRow);
        image.rowKey().put(0, rowKey);
        image.rowUse().put(0, rowUse);
        image.missCount().put(0, missCount);
    }

    /** The exchange of {@link Planner#swap}; the caller has seen that the gate is closed. */
    public int swap(int layer, int resident, int other) {
        requireLayer(layer);
        int row = hotRow[requireExpert(layer, resident)];
        int otherKey = requireExpert(layer, other);
        if (row == ABSENT || hotRow[otherKey] != ABSENT) {
            throw new IllegalArgumentException("swap of layer " + layer + ": expert " + resident + " must be resident"
                    + " and expert " + other + " must not be");
        }
        evict(config.key(layer, resident));
        own(otherKey, row);
        return row;
    }

    private void requireLayer(int layer) {
        if (layer < 0 || layer >= config.layers()) {
            throw new IllegalArgumentException("layer is " + layer + ", expected 0 to " + (config.layers() - 1));
        }
    }

    private int requireExpert(int layer, int expert) {
        if (expert < 0 || expert >= config.experts()) {
            throw new IllegalArgumentException("expert is " + expert + ", expected 0 to " + (config.experts() - 1));
        }
        return config.key(layer, expert);
    }

    /** The key loses its pool row; its expert is read from the host again. */
    void evict(int key) {
        hotRow[key] = ABSENT;
        coldRow[key] = key % config.experts();
    }

    /** The key becomes the owner of a pool row. */
    void own(int key, int row) {
        hotRow[key] = row;
        coldRow[key] = ABSENT;
        rowKey[row] = key;
    }

    private static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java platform has SHA-256", absent);
        }
    }

    private static void update(MessageDigest digest, ByteBuffer chunk, int[] table) {
        int perChunk = HASH_CHUNK_BYTES / Integer.BYTES;
        for (int from = 0; from < table.length; from += perChunk) {
            int count = Math.min(perChunk, table.length - from);
            chunk.clear().asIntBuffer().put(table, from, count);
            digest.update(chunk.limit(count * Integer.BYTES));
        }
    }

    private static void update(MessageDigest digest, ByteBuffer chunk, long[] table) {
        int perChunk = HASH_CHUNK_BYTES / Long.BYTES;
        for (int from = 0; from < table.length; from += perChunk) {
            int count = Math.min(perChunk, table.length - from);
            chunk.clear().asLongBuffer().put(table, from, count);
            digest.update(chunk.limit(count * Long.BYTES));
        }
    }
}
