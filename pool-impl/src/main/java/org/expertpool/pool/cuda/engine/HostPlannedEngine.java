package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;

/**
 * A cache planned on the host: each layer call's routing is read back, the policy decides, the copy engine brings each
 * missing row in one copy, the lanes' rows go up, and the MoE follows, all in order on one stream. Any policy that needs
 * no knowledge of the trace; with {@code evict.lfru+scope.layer} the way of vLLM pull request 37190. The placement stays
 * as it is until {@link #openGate}. Calls wider than the planner read what is not resident through the host's device view.
 */
public final class HostPlannedEngine implements LayerEngine {
    private final DeviceModel model;
    private final HostPlacement placement;
    private HostPlans plans = HostPlans.NONE;
    private boolean gateOpen;

    /** Judges the setup and, if it is admitted, makes the bank and copies in the first rows. */
    public HostPlannedEngine(DeviceModel model, PolicyKind policy, PolicySetup setup) {
        if (policy.fullName().startsWith(HeatEngine.POLICY)) {
            throw new BadInputException("policy is " + policy + ", expected one that decides within a forward");
        }
        this.model = model;
        placement = new HostPlacement(model, policy, setup);
    }

    @Override
    public String name() {
        return "host-planned";
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

    /** Lets the policy see what is called from now on. */
    public void openGate() {
        gateOpen = true;
    }

    @Override
    public void check(RowCheck rows) {
        placement.check(rows);
    }

    @Override
    public LayerCalls bind(CallMemory memory) {
        return memory.lanes() > placement.config().width().lanes() ? new WideCalls(memory) : new PlannedCalls(memory);
    }

    @Override
    public void close() {
        placement.close();
    }

    private void refuseCapture(CudaStream stream) {
        if (stream.isCapturing()) {
            throw new BadInputException("a graph around engine host-planned: the host decides between a layer's router"
                    + " and its experts, which a graph can't hold; expected graph mode none or piecewise");
        }
    }

    private final class PlannedCalls implements LayerCalls {
        private static final int ALIGNMENT = 256;

        private final int lanes;
        private final RoutedCalls routed;
        private final int expertRowsAt;
        private final DeviceBuffer rows; // i32 [lanes], then i32 [E]
        private final PinnedSlab hostRows;
        private final DeviceMoe moe;
        private final List<MoeLaunch> layers = new ArrayList<>();

        private PlannedCalls(CallMemory memory) {
            lanes = memory.lanes();
            routed = new RoutedCalls(model, memory, 1);
            expertRowsAt = (Integer.BYTES * lanes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            int experts = model.shape().experts();
            rows = new DeviceBuffer(model.context(), expertRowsAt + (long) Integer.BYTES * experts);
            hostRows = new PinnedSlab(model.context(), rows.bytes());
            for (int at = 0; at < rows.bytes(); at += Integer.BYTES) {
                hostRows.buffer().putInt(at, PoolTables.ABSENT);
            }
            moe = new DeviceMoe(model.context(), model.shape(), memory.tokens(), model.stream());
            for (int layer = 0; layer < model.layers(); layer++) {
                layers.add(moe.bind(new MoeCall(
                        memory.tokens(),
                        memory.activations(layer),
                        memory.ids(),
                        rows.address(),
                        rows.address() + expertRowsAt,
                        memory.weights(),
                        model.alphas().address(layer),
                        placement.bank().view(),
                        memory.out())));
            }
        }

        @Override
        public void enqueue(int layer, CudaStream stream) {
            refuseCapture(stream);
            routed.read(stream); // all before is done: the rows' pinned memory may be written again, too
            RoutingEvent event = routed.event(0, layer);
            if (gateOpen) {
                placement.step(event);
            }
            bringIn(event, stream);
            for (int lane = 0; lane < lanes; lane++) {
                int expert = routed.id(0, lane);
                int row = expert < 0
                        ? PoolTables.ABSENT
                        : hostRows.buffer().getInt(expertRowsAt + Integer.BYTES * expert);
                hostRows.buffer().putInt(Integer.BYTES * lane, row);
            }
            rows.upload(0, hostRows, 0, rows.bytes(), stream);
            layers.get(layer).enqueue(stream);
        }

        /** Copies what the event's experts lack and notes their rows; those of others are never read. */
        private void bringIn(RoutingEvent event, CudaStream stream) {
            int promoted = 0;
            int staged = 0;
            for (int i = 0; i < event.size; i++) {
                int expert = event.experts[i];
                int row = placement.row(event.layer, expert);
                if (row == PoolTables.ABSENT) {
                    row = placement.stage(event.layer, expert, staged++, stream);
                } else if (placement.move(event.layer, expert, stream)) {
                    promoted++;
                }
                hostRows.buffer().putInt(expertRowsAt + Integer.BYTES * expert, row);
            }
            plans = plans.plus(new HostPlans(promoted, staged, 0));
        }

        @Override
        public long plan(int layer) {
            return 0;
        }

        @Override
        public void close() {
            layers.forEach(MoeLaunch::close);
            moe.close();
            hostRows.close();
            rows.close();
            routed.close();
        }
    }

    private final class WideCalls implements LayerCalls {
        private final WideParts parts;

        private WideCalls(CallMemory memory) {
            parts = WideParts.of(model, memory, placement);
        }

        @Override
        public void enqueue(int layer, CudaStream stream) {
            refuseCapture(stream);
            placement.maps().upload(stream);
            parts.layer(layer).enqueue(stream);
        }

        @Override
        public long plan(int layer) {
            return 0;
        }

        @Override
        public void close() {
            parts.close();
        }
    }
}
