package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.lifecycle.RowCheck;

/** A way to get expert bytes to the same MoE kernels; outputs are equal to the last bit whichever it is. */
public interface LayerEngine extends AutoCloseable {
    /** Name in results: {@code resident}, {@code pool}, {@code uva} and so on. */
    String name();

    /** Device memory that holds expert rows, in bytes. */
    long bankBytes();

    /**
     * Whether this engine judges raw ids and weights itself; if not, invalid lanes must come as -1 (pool-semantics 4, step
     * 1).
     */
    boolean validates();

    /** Prepares the calls of every layer over fixed memory. */
    LayerCalls bind(CallMemory memory);

    /** What the host's own plans have moved so far; none where the device plans, or nobody does. */
    default HostPlans hostPlans() {
        return HostPlans.NONE;
    }

    /**
     * Checks the placement and compares rows with the host's; nothing to do where rows never move.
     *
     * @throws org.expertpool.pool.PoolFailureException they are not as they must be
     */
    default void check(RowCheck rows) {}

    @Override
    void close();
}
