package org.expertpool.pool.cuda;

import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_PARAMS;

import java.nio.ByteBuffer;

/**
 * What a planner's steps read and write on the device.
 *
 * @param output device address of the step's StepOutput
 * @param stepMap device address of i32 {@code [experts]}: the layer's rows with staged experts overlaid
 */
public record StepMemory(DeviceTables tables, long output, long stepMap) {
    /** Fills a PlanParams struct, but for what {@link #describeLanes} does. */
    public void describe(ByteBuffer params) {
        tables.describe(params.slice(PLAN_PARAMS.offset("tables"), PLAN_PARAMS.offset("ids"))
                .order(params.order()));
        params.putLong(PLAN_PARAMS.offset("output"), output);
        params.putLong(PLAN_PARAMS.offset("stepMap"), stepMap);
    }

    /**
     * Fills in one step's lanes.
     *
     * @param ids device address of i32 {@code [lanes]}, raw
     * @param weights device address of f32 {@code [lanes]}
     */
    public static void describeLanes(ByteBuffer params, int layer, int lanes, long ids, long weights) {
        params.putLong(PLAN_PARAMS.offset("ids"), ids)
                .putLong(PLAN_PARAMS.offset("weights"), weights)
                .putInt(PLAN_PARAMS.offset("layer"), layer)
                .putInt(PLAN_PARAMS.offset("lanes"), lanes);
    }
}
