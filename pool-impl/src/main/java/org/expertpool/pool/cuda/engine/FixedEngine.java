package org.expertpool.pool.cuda.engine;

import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;

/**
 * Engines whose rows never move. {@code resident}: every layer in device memory. {@code uva}: the first layers stay on the
 * host and are read through its device view, the way vLLM's offloader meets a memory budget; the others are resident.
 */
public final class FixedEngine implements LayerEngine {
    private final DeviceModel model;
    private final int hostLayers;
    private final DeviceBank bank; // layers from hostLayers on; null where none is

    private FixedEngine(DeviceModel model, int hostLayers) {
        if (hostLayers < 0 || hostLayers > model.layers()) {
            throw new BadInputException("host layers is " + hostLayers + ", expected 0 to " + model.layers());
        }
        this.model = model;
        this.hostLayers = hostLayers;
        int experts = model.shape().experts();
        int residentLayers = model.layers() - hostLayers;
        try (CudaContext.Attempt all = model.context().attempt()) {
            bank = residentLayers == 0
                    ? null
                    : new DeviceBank(model.context(), model.shape().row(), Math.multiplyExact(residentLayers, experts));
            for (int layer = hostLayers; layer < model.layers(); layer++) {
                bank.copyIn((layer - hostLayers) * experts, model.source(), layer, 0, experts, model.stream());
            }
            model.stream().synchronise("copy in the resident layers");
            all.succeeded();
        }
    }

    /** Copies every layer in. */
    public static FixedEngine resident(DeviceModel model) {
        return new FixedEngine(model, 0);
    }

    /** Leaves the first layers on the host. */
    public static FixedEngine uva(DeviceModel model, int hostLayers) {
        return new FixedEngine(model, hostLayers);
    }

    /** The least number of layers on the host with which the others fit into so many bytes. */
    public static int hostLayers(DeviceModel model, long bankBytes) {
        long layerBytes = model.shape().row().rowOffset(model.shape().experts());
        return (int) Math.max(0, model.layers() - Math.max(0, bankBytes) / layerBytes);
    }

    @Override
    public String name() {
        return hostLayers == 0 ? "resident" : "uva";
    }

    @Override
    public long bankBytes() {
        return bank == null ? 0 : bank.bytes();
    }

    @Override
    public boolean validates() {
        return false;
    }

    @Override
    public LayerCalls bind(CallMemory memory) {
        return new FixedCalls(model, memory, this::rows);
    }

    private RowView rows(int layer) {
        if (layer < hostLayers) {
            return model.hostRows(layer);
        }
        return bank.view().from((long) (layer - hostLayers) * model.shape().experts());
    }

    @Override
    public void close() {
        if (bank != null) {
            bank.close();
        }
    }
}
