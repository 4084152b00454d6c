package org.expertpool.pool.plan;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.expertpool.pool.BadInputException;

/**
 * The numbers that fix a pool's tables (pool-semantics 1 and 2).
 *
 * @param layers L, MoE layers
 * @param experts E, routed experts per layer
 * @param topK experts per token
 * @param rows N, the user's knob: expert rows per layer resident at start; 0 turns the pool off
 * @param maxDecodeTokens tokens of the widest decode forward that the engine will send, at least 1
 */
public record PoolConfig(int layers, int experts, int topK, int rows, int maxDecodeTokens) {
    public PoolConfig {
        atLeastOne("layers", layers);
        atLeastOne("experts", experts);
        atLeastOne("topK", topK);
        atLeastOne("maxDecodeTokens", maxDecodeTokens);
        if (topK > experts) {
            throw new BadInputException("topK is " + topK + ", expected at most experts = " + experts);
        }
        if (rows < 0) {
            throw new BadInputException("rows is " + rows + ", expected 0 (pool off) or at least topK = " + topK);
        }
        int resident = Math.min(rows, experts - 1);
        if (resident > 0 && resident < topK) {
            throw new BadInputException("rows is " + rows + ": min(rows, experts - 1) = " + resident
                    + ", expected 0 (pool off) or at least topK = " + topK);
        }
        addressable("layers * experts", (long) layers * experts);
        addressable(
                "bank rows",
                (long) layers * resident
                        + PlannerWidth.of(topK, maxDecodeTokens).lanes());
    }

    /** Whether there is a pool at all. */
    public boolean enabled() {
        return rows > 0;
    }

    /** n: rows per layer that are resident at start; one expert of a layer always stays cold. */
    public int residentPerLayer() {
        return Math.min(rows, experts - 1);
    }

    /** L * n: rows that keep an expert until it is evicted; they come first in the bank. */
    public int poolRows() {
        return layers * residentPerLayer();
    }

    /** S: rows at the end of the bank that are rewritten by each layer call; also the most lanes of a step. */
    public int stagingRows() {
        return width().lanes();
    }

    /** R: pool rows and staging rows. */
    public int bankRows() {
        return poolRows() + stagingRows();
    }

    /** L * E. */
    public int keys() {
        return layers * experts;
    }

    /** The flat name of one expert of one layer. */
    public int key(int layer, int expert) {
        return layer * experts + expert;
    }

    public PlannerWidth width() {
        return PlannerWidth.of(topK, maxDecodeTokens);
    }

    /** SHA-256 in hex over every field, the rows knob included: results of another pool size are never reused. */
    public String hash() {
        String canonical = "pool-config/1\nlayers=" + layers + "\nexperts=" + experts + "\ntopK=" + topK + "\nrows="
                + rows + "\nmaxDecodeTokens=" + maxDecodeTokens + "\n";
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(canonical.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java platform has SHA-256", absent);
        }
    }

    private static void atLeastOne(String field, int value) {
        if (value < 1) {
            throw new BadInputException(field + " is " + value + ", expected at least 1");
        }
    }

    private static void addressable(String what, long value) {
        if (value > Integer.MAX_VALUE) {
            throw new BadInputException(what + " is " + value + ", expected at most " + Integer.MAX_VALUE);
        }
    }
}
