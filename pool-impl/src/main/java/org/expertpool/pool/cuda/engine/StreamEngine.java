package org.expertpool.pool.cuda.engine;

import java.util.Arrays;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;

/**
 * Whole layers streamed by the copy engine through two layers' worth of rows: one is computed from while the next is
 * copied, whatever is routed. With resident rows (FreeToken's way for prefill), the first of each layer come from device
 * memory and only the others cross the link. A forward's copies begin and end with it, so it may be captured in a graph.
 */
public final class StreamEngine implements LayerEngine {
    private static final int BUFFERS = 2;
    private static final int NOTHING = -1;

    private final DeviceModel model;
    private final int residents; // of each layer
    private final DeviceBank bank; // [L, residents]; null where none is
    private final DeviceBank buffers; // [2, E]

    /** @param residents rows of each layer held in device memory beside the buffers, 0 to E */
    public StreamEngine(DeviceModel model, int residents) {
        int experts = model.shape().experts();
        if (residents < 0 || residents > experts) {
            throw new BadInputException("resident rows is " + residents + ", expected 0 to " + experts);
        }
        this.model = model;
        this.residents = residents;
        try (CudaContext.Attempt all = model.context().attempt()) {
            buffers = new DeviceBank(model.context(), model.shape().row(), BUFFERS * experts);
            bank = residents == 0
                    ? null
                    : new DeviceBank(
                            model.context(), model.shape().row(), Math.multiplyExact(model.layers(), residents));
            for (int layer = 0; bank != null && layer < model.layers(); layer++) {
                bank.copyIn(layer * residents, model.source(), layer, 0, residents, model.stream());
            }
            model.stream().synchronise("copy in " + residents + " rows of each layer");
            all.succeeded();
        }
    }

    /** Resident rows of each layer that fit into so many rows a layer once the buffers have taken theirs; negative if not. */
    public static int residents(MoeShape shape, int layers, int rowsPerLayer) {
        return Math.min(
                shape.experts(),
                Math.floorDiv(Math.multiplyExact(layers, rowsPerLayer) - BUFFERS * shape.experts(), layers));
    }

    @Override
    public String name() {
        return residents == 0 ? "stream" : "stream-hits";
    }

    @Override
    public long bankBytes() {
        return buffers.bytes() + (bank == null ? 0 : bank.bytes());
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
        if (bank != null) {
            bank.close();
        }
        buffers.close();
    }

    private final class Calls implements LayerCalls {
        private final FixedCalls calls;
        private final CudaStream copies;
        private final CudaEvent begun;
        private final List<CudaEvent> arrived; // by buffer
        private final List<CudaEvent> computed; // by buffer
        private final int[] layerIn = new int[BUFFERS]; // of this forward, else NOTHING

        private Calls(CallMemory memory) {
            int experts = model.shape().experts();
            calls = new FixedCalls(model, memory, layer -> buffers.view().from((long) layer % BUFFERS * experts));
            copies = new CudaStream(model.context());
            begun = CudaEvent.withoutTime(model.context());
            arrived = List.of(CudaEvent.withoutTime(model.context()), CudaEvent.withoutTime(model.context()));
            computed = List.of(CudaEvent.withoutTime(model.context()), CudaEvent.withoutTime(model.context()));
            Arrays.fill(layerIn, NOTHING);
        }

        @Override
        public void enqueue(int layer, CudaStream stream) {
            int buffer = layer % BUFFERS;
            boolean follows = layer > 0 && layerIn[buffer] == layer;
            if (!follows) {
                begun.record(stream);
                copies.waitFor(begun); // whatever reads the buffers comes before
                copy(layer);
            }
            if (layer + 1 < model.layers()) {
                if (follows) {
                    copies.waitFor(computed.get(1 - buffer));
                }
                copy(layer + 1);
            }
            stream.waitFor(arrived.get(buffer));
            calls.enqueue(layer, stream);
            computed.get(buffer).record(stream);
            layerIn[buffer] = NOTHING;
        }

        private void copy(int layer) {
            int experts = model.shape().experts();
            int buffer = layer % BUFFERS;
            if (residents > 0) {
                buffers.copyRows(buffer * experts, bank, layer * residents, residents, copies);
            }
            if (residents < experts) {
                buffers.copyIn(
                        buffer * experts + residents, model.source(), layer, residents, experts - residents, copies);
            }
            arrived.get(buffer).record(copies);
            layerIn[buffer] = layer;
        }

        @Override
        public long plan(int layer) {
            return 0;
        }

        @Override
        public void close() {
            computed.forEach(CudaEvent::close);
            arrived.forEach(CudaEvent::close);
            begun.close();
            copies.close();
            calls.close();
        }
    }
}
