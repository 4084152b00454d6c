package org.expertpool.pool.cuda.engine;

import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;

/**
 * The other way to leave experts on the host: the first rows of every layer are resident, the rest are read through the
 * host source's device view, in two launches and one sum. Rows never move.
 */
public final class SplitEngine implements LayerEngine {
    private static final int ABSENT = -1;

    private final DeviceModel model;
    private final int rows;
    private final DeviceBank bank;

    /** @param rows resident experts of each layer, 1 to E - 1 */
    public SplitEngine(DeviceModel model, int rows) {
        int experts = model.shape().experts();
        if (rows < 1 || rows >= experts) {
            throw new BadInputException("resident rows is " + rows + ", expected 1 to " + (experts - 1));
        }
        this.model = model;
        this.rows = rows;
        try (CudaContext.Attempt all = model.context().attempt()) {
            bank = new DeviceBank(model.context(), model.shape().row(), Math.multiplyExact(model.layers(), rows));
            for (int layer = 0; layer < model.layers(); layer++) {
                bank.copyIn(layer * rows, model.source(), layer, 0, rows, model.stream());
            }
            model.stream().synchronise("copy in the first " + rows + " rows of each layer");
            all.succeeded();
        }
    }

    @Override
    public String name() {
        return "uva-rows";
    }

    @Override
    public long bankBytes() {
        return bank.bytes();
    }

    @Override
    public boolean validates() {
        return false;
    }

    @Override
    public LayerCalls bind(CallMemory memory) {
        return new Calls(memory);
    }

    @Override
    public void close() {
        bank.close();
    }

    private final class Calls implements LayerCalls {
        private final DeviceBuffer inBank; // i32 [E]
        private final DeviceBuffer onHost; // i32 [E]
        private final WideParts parts;

        private Calls(CallMemory memory) {
            inBank = rowOfExpert(expert -> expert < rows ? expert : ABSENT);
            onHost = rowOfExpert(expert -> expert < rows ? ABSENT : expert);
            parts = new WideParts(
                    model,
                    memory,
                    memory.ids(),
                    layer -> new WideParts.Rows(bank.view().from((long) layer * rows), inBank.address()),
                    layer -> new WideParts.Rows(model.hostRows(layer), onHost.address()));
        }

        private DeviceBuffer rowOfExpert(IntUnaryOperator row) {
            int experts = model.shape().experts();
            return DeviceBuffer.holding(
                    model.context(),
                    model.stream(),
                    (long) Integer.BYTES * experts,
                    host -> host.asIntBuffer()
                            .put(IntStream.range(0, experts).map(row).toArray()));
        }

        @Override
        public void enqueue(int layer, CudaStream stream) {
            parts.layer(layer).enqueue(stream);
        }

        @Override
        public long plan(int layer) {
            return 0;
        }

        @Override
        public void close() {
            parts.close();
            onHost.close();
            inBank.close();
        }
    }
}
