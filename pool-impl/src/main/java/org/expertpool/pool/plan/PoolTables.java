package org.expertpool.pool.plan;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

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
