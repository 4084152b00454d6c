package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.StepLaunch;

/**
 * A pool's planned calls: step, row copies, MoE over the rows that the step found (pool-semantics 5). Where the call is
 * narrow enough, the MoE's own blocks bring the missing rows, so that they cross the link while the hits are computed.
 */
final class PoolCalls implements LayerCalls {
    /** One layer's launches; no copies where the MoE makes them. */
    private record Layer(StepLaunch planner, Optional<RowCopier.Launch> copies, MoeLaunch moe) {}

    private final DevicePool pool;
    private final CallMemory memory;
    private final DeviceMoe moe;
    private final List<Layer> layers = new ArrayList<>();

    PoolCalls(DevicePool pool, CallMemory memory) {
        int most = pool.config().width().lanes();
        if (memory.lanes() > most) {
            throw new BadInputException(
                    "lanes is " + memory.lanes() + ", expected at most S = " + most + ": wider calls are partitioned");
        }
        this.pool = pool;
        this.memory = memory;
        DeviceModel model = pool.model();
        moe = new DeviceMoe(model.context(), model.shape(), memory.tokens(), model.stream());
        for (int layer = 0; layer < model.layers(); layer++) {
            StepLaunch planner =
                    new StepLaunch(model.context(), pool.deviceTables(), pool.plan(layer), pool.stepMap(layer));
            MoeCall call = call(memory, layer);
            if (moe.readsMissed(memory.tokens())) {
                long missed = pool.plan(layer) + STEP_OUTPUT.offset("missRows");
                layers.add(
                        new Layer(planner, Optional.empty(), moe.bind(call.withMissed(missed, model.hostRows(layer)))));
            } else {
                layers.add(
                        new Layer(planner, Optional.of(pool.copier().bind(layer, pool.plan(layer))), moe.bind(call)));
            }
        }
    }

    private MoeCall call(CallMemory memory, int layer) {
        return new MoeCall(
                memory.tokens(),
                memory.activations(layer),
                pool.plan(layer) + STEP_OUTPUT.offset("safeIds"),
                pool.plan(layer) + STEP_OUTPUT.offset("routes"),
                pool.stepMap(layer),
                memory.weights(),
                pool.model().alphas().address(layer),
                pool.bank().view(),
                memory.out());
    }

    @Override
    public void enqueue(int layer, CudaStream stream) {
        Layer calls = layers.get(layer);
        calls.planner().enqueue(layer, memory.lanes(), memory.ids(), memory.weights(), stream);
        calls.copies().ifPresent(copies -> copies.enqueue(stream));
        calls.moe().enqueue(stream);
    }

    @Override
    public long plan(int layer) {
        return pool.plan(layer);
    }

    @Override
    public void close() {
        layers.forEach(layer -> {
            layer.planner().close();
            layer.copies().ifPresent(RowCopier.Launch::close);
            layer.moe().close();
        });
        moe.close();
    }
}
