package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.route.StreamPlan;

/**
 * A pool's calls on the partition path (pool-semantics 6), whatever their width: residents are read from the bank, all
 * others elsewhere; nothing is staged. The pool stays the caller's.
 */
public final class WidePool implements LayerEngine {
    /** How experts that are not resident are read. */
    public sealed interface Way {}

    /** Straight from the host source, by the GEMMs. */
    public record HostView() implements Way {}

    /**
     * By the copy engine through a ring of rows.
     *
     * @param prefillPromote most streamed experts a layer call that stay, by {@link
     *     org.expertpool.pool.plan.PrefillPromotion}, while the gate is open; 0: none, the placement does not change
     */
    public record Streamed(StreamPlan.Shape shape, int prefillPromote) implements Way {
        public Streamed {
            if (prefillPromote < 0) {
                throw new BadInputException("prefillPromote is " + prefillPromote + ", expected at least 0");
            }
        }
    }

    private final DevicePool pool;
    private final Way way;

    public WidePool(DevicePool pool, Way way) {
        this.pool = pool;
        this.way = way;
    }

    @Override
    public String name() {
        return way instanceof Streamed ? "pool-streamed" : "pool-host-view";
    }

    @Override
    public long bankBytes() {
        long ringRows = way instanceof Streamed streamed ? streamed.shape().ringRows() : 0;
        return pool.bankBytes() + pool.model().shape().row().rowOffset(ringRows);
    }

    @Override
    public boolean validates() {
        return true;
    }

    @Override
    public LayerCalls bind(CallMemory memory) {
        return way instanceof Streamed streamed
                ? new StreamedCalls(pool, memory, streamed)
                : new HostViewCalls(pool, memory);
    }

    /** Nothing of its own to free. */
    @Override
    public void close() {}
}
