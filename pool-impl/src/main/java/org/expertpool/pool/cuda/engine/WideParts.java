package org.expertpool.pool.cuda.engine;

/** One layer's wide call as two launches into one lane buffer: experts in the bank, and all others elsewhere. */
final class WideParts implements AutoCloseable {
    final WideCall call;
    final MoeLaunch hits;
    final MoeLaunch others;

    /**
     * @param otherRows device address of i32 {@code [experts]}: row of each expert that is not resident, else -1
     * @param others where those rows lie
     */
    WideParts(
            PoolMemory pool,
            DeviceMoe moe,
            DevicePartition partition,
            int layer,
            WideCall call,
            long otherRows,
            RowView others) {
        this.call = call;
        long alphas = pool.alphas().address(layer);
        hits = moe.bindAligned(moeCall(
                call, partition, pool.hotRows(layer), alphas, pool.bank().view()));
        this.others = moe.bindAligned(moeCall(call, partition, otherRows, alphas, others));
    }

    @Override
    public void close() {
        others.close();
        hits.close();
    }

    private static MoeCall moeCall(
            WideCall call, DevicePartition partition, long expertRows, long alphas, RowView rows) {
        long unused = 0; // rows by lane are read by calls of few tokens alone
        return new MoeCall(
                call.tokens(),
                call.activations(),
                partition.safeIds(),
                unused,
                expertRows,
                call.weights(),
                alphas,
                rows,
                call.out());
    }
}
