package org.expertpool.harness.run;

import org.expertpool.harness.exact.DeviceReplay;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.pool.cuda.engine.LayerEngine;

/** A cell's way to get expert bytes to the kernels, installed on the device for one pass of its trace. */
interface DeviceEngine extends AutoCloseable {
    /** Makes calls of at most {@link #narrowLanes} lanes. */
    LayerEngine narrow();

    /** Makes the others. */
    LayerEngine wide();

    int narrowLanes();

    /** All calls are bound, warmed up and captured: serving begins. */
    default void begin() {}

    /** Checks what the pass did, and puts what is known of this engine into the row. */
    void finish(DeviceReplay.Result result, ResultRow.Builder row);

    @Override
    void close();
}
