package org.expertpool.harness.run;

import java.util.Locale;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.DeviceBuffer;

/**
 * The {@code memory} of a cell on a device. Without a ballast it bounds the expert rows alone. With one, an allocation
 * holds all that the device has beyond it, so that rows, tapes, scratch, graphs and the context itself share what a card
 * of that size would have.
 */
final class DeviceLimit implements AutoCloseable {
    /**
     * What a definition says of it.
     *
     * @param ballast whether the limit is made real
     * @param lift whether cells whose rows cannot fit run without it, instead of being refused
     */
    record Rule(boolean ballast, boolean lift) {}

    /** Left by rows that fill what there is: for tapes, scratch, inputs and graphs. */
    private static final long RESERVE_BYTES = 1L << 30;

    private final Rule rule;
    private final Cell cell;
    private final CudaContext context;
    private final long denseBytes;
    private DeviceBuffer ballast;
    private boolean lifted;

    /** @param denseBytes that the cell holds beside its rows */
    DeviceLimit(Rule rule, Cell cell, CudaContext context, long denseBytes) {
        this.rule = rule;
        this.cell = cell;
        this.context = context;
        this.denseBytes = denseBytes;
    }

    /** What is left for rows that are to fill the memory; 0 without a limit. */
    long rowBudgetBytes() {
        long memory = cell.memoryBytes().orElse(0);
        if (!isReal()) {
            return memory;
        }
        long used = context.totalBytes() - context.freeBytes();
        return Math.max(0, memory - used - denseBytes - RESERVE_BYTES);
    }

    /** Refuses, before anything is allocated, rows that do not fit; else sets up the ballast, or lifts the limit. */
    void admit(long bankBytes) {
        long free = context.freeBytes();
        long beyond =
                isReal() ? Math.max(0, context.totalBytes() - cell.memoryBytes().getAsLong()) : 0;
        if (isReal() && rule.lift() && bankBytes + denseBytes > free - beyond) {
            lifted = true;
            beyond = 0;
        }
        long most = free - beyond - denseBytes;
        if (!rule.ballast()) {
            most = Math.min(cell.memoryBytes().orElse(Long.MAX_VALUE), most);
        }
        if (bankBytes > most) {
            throw new BadInputException(String.format(
                    Locale.ROOT, "expert rows take %d bytes of device memory, expected at most %d", bankBytes, most));
        }
        if (beyond > 0) {
            ballast = new DeviceBuffer(context, beyond);
        }
    }

    /** What a failure for want of memory means: under a limit that is real, that the cell does not fit it. */
    RuntimeException meaning(CudaException failure) {
        return ballast == null || !failure.isOutOfMemory()
                ? failure
                : new BadInputException(
                        "memory is " + cell.setting(Axis.MEMORY).orElse("") + ", expected more: "
                                + failure.getMessage(),
                        failure);
    }

    /** To be said of the cell's row. */
    String note() {
        return lifted ? "; limit lifted: the rows take more than memory" : "";
    }

    private boolean isReal() {
        return rule.ballast() && cell.memoryBytes().isPresent();
    }

    @Override
    public void close() {
        if (ballast != null) {
            ballast.close();
        }
    }
}
