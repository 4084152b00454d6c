package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.StepLaunch;

/** A pool's planned calls: step, row copies, MoE over the rows that the step found (pool-semantics 5). */
final class PoolCalls implements LayerCalls {
    private record Layer(StepLaunch planner, RowCopier.Launch copies, MoeLaunch moe) {}

    private final DevicePool pool;
    private final CallMemory memory;
    private final DeviceMoe moe;
    private final List<Layer> layers = new ArrayList<>();
    private final OverlappedCalls overlapped; // null where the call is too wide for it

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
            layers.add(new Layer(
                    new StepLaunch(model.context(), pool.deviceTables(), pool.plan(layer), pool.stepMap(layer)),
                    pool.copier().bind(layer, pool.plan(layer)),
                    moe.bind(call(pool, memory, layer, STEP_OUTPUT.offset("routes")))));
        }
        overlapped = moe.canBeApart(memory.tokens()) ? new OverlappedCalls(pool, memory, moe) : null;
    }

    /** The layer's call behind its step, with the rows of lanes that begin at a byte of the plan. */
    static MoeCall call(DevicePool pool, CallMemory memory, int layer, int rowsAtByte) {
        return new MoeCall(
                memory.tokens(),
                memory.activations(layer),
                pool.plan(layer) + STEP_OUTPUT.offset("safeIds"),
                pool.plan(layer) + rowsAtByte,
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
        if (overlapped != null && stream.isCapturing()) {
            overlapped.enqueue(layer, stream);
        } else {
            calls.copies().enqueue(stream); // eager: four more launches and events cost the host more than they save
            calls.moe().enqueue(stream);
        }
    }

    @Override
    public long plan(int layer) {
        return pool.plan(layer);
    }

    @Override
    public void close() {
        if (overlapped != null) {
            overlapped.close();
        }
        layers.forEach(layer -> {
            layer.planner().close();
            layer.copies().close();
            layer.moe().close();
        });
        moe.close();
    }
}
