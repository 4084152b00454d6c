package org.expertpool.harness.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongUnaryOperator;
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
     * @param growthBytes more are held before each stretch of a cell's forwards, until no more are to be had; 0: none
     */
    record Rule(boolean ballast, boolean lift, long growthBytes) {}

    /** Left by rows that fill what there is: for tapes, scratch, inputs and graphs. */
    private static final long RESERVE_BYTES = 1L << 30;

    private final Rule rule;
    private final Cell cell;
    private final CudaContext context;
    private final long denseBytes;
    private final List<DeviceBuffer> held = new ArrayList<>();
    private long rowBudgetBytes;
    private boolean lifted;
    private long grownBytes;
    private String grownUntil; // why the ballast grows no more; null while it does

    /** @param denseBytes that the cell holds beside its rows */
    DeviceLimit(Rule rule, Cell cell, CudaContext context, long denseBytes) {
        this.rule = rule;
        this.cell = cell;
        this.context = context;
        this.denseBytes = denseBytes;
    }

    /** What is left for rows that are to fill the memory; 0 without a limit. */
    long rowBudgetBytes() {
        return rowBudgetBytes;
    }

    private long budgetBytes() {
        long memory = cell.memoryBytes().orElse(0);
        if (!isReal()) {
            return memory;
        }
        long used = context.totalBytes() - context.freeBytes();
        return Math.max(0, memory - used - denseBytes - RESERVE_BYTES);
    }

    /**
     * Refuses, before anything is allocated, rows that do not fit; else sets up the ballast, or lifts the limit.
     *
     * @param rows bytes of the cell's rows, where so many are left for such as fill the memory
     */
    void admit(LongUnaryOperator rows) {
        rowBudgetBytes = budgetBytes();
        long bankBytes = rows.applyAsLong(rowBudgetBytes);
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
            held.add(new DeviceBuffer(context, beyond));
        }
    }

    /** Lets the ballast grow, if the definition says so; what is under way has its memory and goes on. */
    void grow() {
        if (rule.growthBytes() == 0 || grownUntil != null) {
            return;
        }
        try {
            held.add(new DeviceBuffer(context, rule.growthBytes()));
            grownBytes += rule.growthBytes();
        } catch (CudaException failure) {
            if (!failure.isOutOfMemory()) {
                throw failure;
            }
            grownUntil = failure.getMessage();
        }
    }

    /** What a failure for want of memory means: under a limit that is real, that the cell does not fit it. */
    RuntimeException meaning(CudaException failure) {
        return held.isEmpty() || !failure.isOutOfMemory()
                ? failure
                : new BadInputException(
                        "memory is " + cell.setting(Axis.MEMORY).orElse("the device's") + ", expected more: "
                                + failure.getMessage(),
                        failure);
    }

    /** To be said of the cell's row. */
    String note() {
        return (lifted ? "; limit lifted: the rows take more than memory" : "")
                + (rule.growthBytes() == 0 ? "" : "; ballast grown by " + grownBytes + " bytes")
                + (grownUntil == null ? "" : " until " + grownUntil);
    }

    private boolean isReal() {
        return rule.ballast() && cell.memoryBytes().isPresent();
    }

    @Override
    public void close() {
        held.forEach(DeviceBuffer::close);
    }
}
