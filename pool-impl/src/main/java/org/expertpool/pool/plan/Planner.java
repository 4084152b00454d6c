package org.expertpool.pool.plan;

import java.util.Map;

/** A planner of pool-semantics 4; all of them give the same plans and tables, bit for bit. Not for concurrent use. */
public interface Planner extends AutoCloseable {
    PoolConfig config();

    /** The tables as they are now; a device planner copies them from the device. */
    PoolTables tables();

    PoolControls controls();

    /** Replaces all controls, between steps. */
    void controls(PoolControls next);

    /** Changes some controls by name, between steps: all or, if one is refused, none. */
    default void control(Map<String, ? extends Number> changes) {
        controls(controls().with(changes));
    }

    /** Clears the sticky error. */
    void clearError();

    /**
     * Plans one layer call.
     *
     * @param ids routed expert ids, [lanes]: -1 is padding, any other value outside {@code [0, E)} is invalid
     * @param weights router weights, [lanes]
     * @param lanes lanes of the call, at most S
     * @return the plan, overwritten by the next step
     */
    StepPlan step(int layer, int[] ids, float[] weights, int lanes);

    /**
     * Exchanges a resident expert for one that is not, of the same layer, for verification; only with the gate closed.
     * Recency and miss counts stay.
     *
     * @return the row whose bytes the caller must now replace
     */
    int swap(int layer, int resident, int other);

    @Override
    default void close() {}
}
