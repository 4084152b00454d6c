package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * The public proposal's first tier: residents from the bank, all others through the host's device view, then one sum, and
 * a placement that changes between forwards alone. Behind each forward the host reads its routing, and the copy engine
 * brings in what the policy exchanged; then the maps go up. Nothing within a forward needs the host, so that it may be
 * captured.
 */
public final class HeatEngine implements LayerEngine {
    static final String POLICY = "heat.exchange";

    private final DeviceModel model;
    private final HostPlacement placement;
    private final CudaStream exchanges;
    private final CudaEvent exchanged;
    private HostPlans plans = HostPlans.NONE;

    /** Judges the setup and, if it is admitted, makes the bank and copies in the first rows. */
    public HeatEngine(DeviceModel model, PolicyKind policy, PolicySetup setup) {
        if (!policy.fullName().startsWith(POLICY)) {
            throw new BadInputException(
                    "policy is " + policy + ", expected " + POLICY + ": a placement that forwards don't change");
        }
        this.model = model;
        try (CudaContext.Attempt all = model.context().attempt()) {
            placement = new HostPlacement(model, policy, setup);
            exchanges = new CudaStream(model.context());
            exchanged = CudaEvent.withoutTime(model.context());
            all.succeeded();
        }
    }

    @Override
    public String name() {
        return "heat";
    }

    @Override
    public long bankBytes() {
        return placement.bank().bytes();
    }

    @Override
    public boolean validates() {
        return false;
    }

    @Override
    public HostPlans hostPlans() {
        return plans;
    }

    @Override
    public void check(RowCheck rows) {
        placement.check(rows);
    }

    @Override
    public LayerCalls bind(CallMemory memory) {
        return new Calls(memory);
    }

    @Override
    public void close() {
        exchanged.close();
        exchanges.close();
        placement.close();
    }

    private final class Calls implements LayerCalls {
        private final boolean counted; // calls wider than the planner change nothing
        private final RoutedCalls routed;
        private final DeviceBuffer record;
        private final WideParts parts;

        private Calls(CallMemory memory) {
            counted = memory.lanes() <= placement.config().width().lanes();
            routed = new RoutedCalls(model, memory, model.layers());
            record = routed.record(model);
            parts = WideParts.of(model, memory, placement);
        }

        @Override
        public void enqueue(int layer, CudaStream stream) {
            if (counted) {
                routed.keep(layer, record, stream);
            }
            parts.layer(layer).enqueue(stream);
        }

        @Override
        public void endForward(CudaStream stream) {
            if (!counted) {
                return;
            }
            routed.read(record, stream);
            int absent = 0;
            long exchangedRows = 0;
            for (int layer = 0; layer < model.layers(); layer++) {
                RoutingEvent event = routed.event(layer, layer);
                for (int i = 0; i < event.size; i++) {
                    absent += placement.maps().isInBank(layer, event.experts[i]) ? 0 : 1;
                }
                exchangedRows += placement.step(event);
            }
            int moved = exchangedRows == 0 ? 0 : exchange(stream);
            plans = plans.plus(new HostPlans(0, absent, moved));
        }

        /** The device is idle: rows may be written at once, and what follows waits for them. */
        private int exchange(CudaStream stream) {
            int moved = placement.moveChanged(exchanges);
            exchanged.record(exchanges);
            stream.waitFor(exchanged);
            placement.maps().upload(stream);
            return moved;
        }

        @Override
        public long plan(int layer) {
            return 0;
        }

        @Override
        public void close() {
            parts.close();
            record.close();
            routed.close();
        }
    }
}
