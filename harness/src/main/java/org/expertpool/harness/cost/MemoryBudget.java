package org.expertpool.harness.cost;

/**
 * Where the usable GPU memory goes, in bytes.
 *
 * @param usableBytes what the engine may take of the card
 * @param fixedBytes dense weights and what the engine keeps for itself, whatever the rows and the context
 * @param cudaContextBytes CUDA context and loaded modules
 * @param workspaceBytes intermediate results of the widest forward (one prefill chunk)
 * @param streamRingBytes rows in flight of streamed prefill
 * @param stagingBytes staging rows of the bank
 * @param bankBytes pool rows of the bank
 * @param kvBytes KV cache
 */
public record MemoryBudget(
        long usableBytes,
        long fixedBytes,
        long cudaContextBytes,
        long workspaceBytes,
        long streamRingBytes,
        long stagingBytes,
        long bankBytes,
        long kvBytes) {
    /** What is left; negative where it does not fit. */
    public long freeBytes() {
        return usableBytes
                - fixedBytes
                - cudaContextBytes
                - workspaceBytes
                - streamRingBytes
                - stagingBytes
                - bankBytes
                - kvBytes;
    }

    public boolean fits() {
        return freeBytes() >= 0;
    }
}
