package org.expertpool.harness.cost;

import java.util.OptionalInt;
import java.util.OptionalLong;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;

/** What fits into a memory limit: the context beside N rows per layer, and the N beside a context. */
public final class CapacityModel {
    private static final int ACTIVATION_BYTES = 2;
    private static final int LANE_INDEX_BYTES = 16;
    private static final long MOST_BYTES = 1L << 60; // of memory and of KV cache: their sums stay in a long

    private final ModelGeometry model;
    private final Options options;
    private final long usableBytes;
    private final long cudaContextBytes;

    /**
     * What the engine keeps beside bank and KV cache.
     *
     * @param chunkTokens tokens of the widest prefill chunk, which sizes the workspace
     * @param streamRingRows rows in flight of streamed prefill; 0 where the partition path reads the host view
     * @param decodeTokens tokens per decode forward that the planner plans for
     */
    public record Options(int chunkTokens, int streamRingRows, int decodeTokens) {
        /** The seed's configuration: chunks of 512 tokens, host-view partition path, one token a forward. */
        public static final Options SEED = new Options(512, 0, 1);

        public Options {
            atLeast("chunk tokens", chunkTokens, 1);
            atLeast("stream ring rows", streamRingRows, 0);
            atLeast("decode tokens", decodeTokens, 1);
        }

        private static void atLeast(String field, int value, int least) {
            if (value < least) {
                throw new BadInputException(field + " is " + value + ", expected at least " + least);
            }
        }
    }

    /** The model on a card limited to {@code memoryBytes}, of which the profile's usable fraction may be taken. */
    public CapacityModel(ModelGeometry model, long memoryBytes, DeviceProfile device, Options options) {
        if (memoryBytes < 1 || memoryBytes > MOST_BYTES) {
            throw new BadInputException("memory is " + memoryBytes + " bytes, expected 1 to " + MOST_BYTES);
        }
        this.model = model;
        this.options = options;
        this.usableBytes = (long) (memoryBytes * device.value("usable_fraction"));
        this.cudaContextBytes = (long) device.value("cuda_context_bytes");
    }

    /** The budget with N rows per layer and {@code contextTokens} in the KV cache. */
    public MemoryBudget budget(int rowsPerLayer, long contextTokens) {
        long mostTokens = MOST_BYTES / Math.max(1, model.kvBytesPerToken());
        if (contextTokens > mostTokens) {
            throw new BadInputException("context is " + contextTokens + " tokens, expected at most " + mostTokens);
        }
        return new MemoryBudget(
                usableBytes,
                model.fixedBytes(),
                cudaContextBytes,
                workspaceBytes(),
                options.streamRingRows() * model.rowBytes(),
                stagingRows() * model.rowBytes(),
                bankBytes(rowsPerLayer),
                contextTokens * model.kvBytesPerToken());
    }

    /** The largest context in tokens beside N rows per layer; empty where N alone does not fit or KV size is unknown. */
    public OptionalLong contextTokens(int rowsPerLayer) {
        long free = budget(rowsPerLayer, 0).freeBytes();
        return free < 0 || model.kvBytesPerToken() == 0
                ? OptionalLong.empty()
                : OptionalLong.of(free / model.kvBytesPerToken());
    }

    /** The largest N beside a context, at most E - 1; empty where not even top-k rows per layer fit. */
    public OptionalInt rowsPerLayer(long contextTokens) {
        long free = budget(0, contextTokens).freeBytes();
        long rows = Math.min(Math.floorDiv(free, model.layers() * model.rowBytes()), model.experts() - 1L);
        return rows < Math.min(model.topK(), model.experts() - 1) ? OptionalInt.empty() : OptionalInt.of((int) rows);
    }

    /** Bytes of the pool rows: {@code layers * min(N, E-1)} rows. */
    public long bankBytes(int rowsPerLayer) {
        return (long) model.layers() * Math.min(rowsPerLayer, model.experts() - 1) * model.rowBytes();
    }

    /**
     * The fixed bytes that make a statement "N rows leave {@code kvBytes} for the KV cache" true: the one constant of
     * this model that is fitted.
     */
    public long fixedBytesFrom(int rowsPerLayer, long kvBytes) {
        return budget(rowsPerLayer, 0).freeBytes() + model.fixedBytes() - kvBytes;
    }

    private long stagingRows() {
        return (long) model.topK() * Math.max(1, Math.min(options.decodeTokens(), 64 / model.topK()));
    }

    /** Marlin MoE buffers of one chunk: GEMM 1 or 2 output, SwiGLU output, in and out of the layer, lane indices. */
    private long workspaceBytes() {
        long tokens = options.chunkTokens();
        long lanes = tokens * model.topK();
        long perLane = (long) Math.max(2 * model.expertWidth(), model.hidden()) + model.expertWidth();
        return ACTIVATION_BYTES * (lanes * perLane + 2 * tokens * model.hidden()) + LANE_INDEX_BYTES * lanes;
    }
}
