package org.expertpool.harness.bench.device;

import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;

/** A preset with fewer layers, of seeded experts: a fork then waits for gigabytes instead of tens of them. */
final class BenchModel {
    private BenchModel() {}

    static DeviceModel of(CudaContext context, String preset, int layers, ActivationType activations) {
        ModelGeometry geometry = ModelPresets.load(preset).withLayers(layers);
        SyntheticExperts experts =
                new SyntheticExperts(1, layers, geometry.experts(), geometry.rowLayout(), activations);
        PinnedSource source = PinnedSource.load(context, memory -> experts.hostSource(memory, layer -> {}));
        return DeviceModel.of(context, source, geometry.topK());
    }
}
