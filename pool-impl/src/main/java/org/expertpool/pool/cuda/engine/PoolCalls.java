package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.StepLaunch;
import org.expertpool.pool.cuda.StepMemory;

/**
 * A pool's planned calls: step, row copies, MoE over the rows that the step found (pool-semantics 5). Where the call is
 * narrow enough, the MoE's own blocks bring the missing rows, so that they cross the link while the hits are computed; for
 * one token they also plan the step.
 */
final class PoolCalls implements LayerCalls {
    /** One layer's launches. */
    private sealed interface Layer extends AutoCloseable {
        void enqueue(CudaStream stream);

        @Override
        void close();
    }

    private record OneKernel(PoolTokenLaunch all) implements Layer {
        @Override
        public void enqueue(CudaStream stream) {
            all.enqueue(stream);
        }

        @Override
        public void close() {
            all.close();
        }
    }

    /** One after the other; no copies where the MoE makes them. */
    private record InTurn(
            CallMemory memory, int layer, StepLaunch planner, Optional<RowCopier.Launch> copies, MoeLaunch moe)
            implements Layer {
        @Override
        public void enqueue(CudaStream stream) {
            planner.enqueue(layer, memory.lanes(), memory.ids(layer), memory.weights(layer), stream);
            copies.ifPresent(launch -> launch.enqueue(stream));
            moe.enqueue(stream);
        }

        @Override
        public void close() {
            planner.close();
            copies.ifPresent(RowCopier.Launch::close);
            moe.close();
        }
    }

    private final DevicePool pool;
    private final DeviceMoe moe;
    private final List<Layer> layers = new ArrayList<>();

    PoolCalls(DevicePool pool, CallMemory memory) {
        int most = pool.config().width().lanes();
        if (memory.lanes() > most) {
            throw new BadInputException(
                    "lanes is " + memory.lanes() + ", expected at most S = " + most + ": wider calls are partitioned");
        }
        this.pool = pool;
        DeviceModel model = pool.model();
        moe = new DeviceMoe(model.context(), model.shape(), memory.tokens(), model.stream());
        for (int layer = 0; layer < model.layers(); layer++) {
            layers.add(layer(memory, layer));
        }
    }

    private Layer layer(CallMemory memory, int layer) {
        DeviceModel model = pool.model();
        StepMemory step = new StepMemory(pool.deviceTables(), pool.plan(layer), pool.stepMap(layer));
        long missed = pool.plan(layer) + STEP_OUTPUT.offset("missRows");
        MoeCall call = call(memory, layer);
        if (moe.plans(memory.tokens())) {
            MoeCall withMissed = call.withMissed(missed, model.hostRows(layer));
            return new OneKernel(moe.bindPlanned(withMissed, step, layer, memory.ids(layer)));
        }
        StepLaunch planner = new StepLaunch(model.context(), step);
        if (moe.readsMissed(memory.tokens())) {
            MoeLaunch reading = moe.bind(call.withMissed(missed, model.hostRows(layer)));
            return new InTurn(memory, layer, planner, Optional.empty(), reading);
        }
        RowCopier.Launch copies = pool.copier().bind(layer, pool.plan(layer));
        return new InTurn(memory, layer, planner, Optional.of(copies), moe.bind(call));
    }

    private MoeCall call(CallMemory memory, int layer) {
        return new MoeCall(
                memory.tokens(),
                memory.activations(layer),
                pool.plan(layer) + STEP_OUTPUT.offset("safeIds"),
                pool.plan(layer) + STEP_OUTPUT.offset("routes"),
                pool.stepMap(layer),
                memory.weights(layer),
                pool.model().alphas().address(layer),
                pool.bank().view(),
                memory.out(layer));
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        layers.get(layer).enqueue(stream);
    }

    @Override
    public long plan(int layer) {
        return pool.plan(layer);
    }

    @Override
    public void close() {
        layers.forEach(Layer::close);
        moe.close();
    }
}
