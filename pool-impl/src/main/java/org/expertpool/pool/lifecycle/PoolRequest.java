package org.expertpool.pool.lifecycle;

import java.util.Collections;
import java.util.List;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.plan.PoolConfig;

/**
 * Everything that decides whether a pool may be installed; {@link PoolGuards} judges it.
 *
 * @param rows N, expert rows per layer; 0 turns the pool off
 * @param maxDecodeTokens tokens of the widest decode forward
 * @param layers the model's MoE layers in order
 * @param quantisation name of the experts' quantisation, such as {@code nvfp4}
 * @param consumer name of what reads the rows, such as {@code marlin}
 * @param parallelism ranks of the deployment
 * @param source the expert rows in host memory, or null where there is none
 * @param memory what the source lies in
 */
public record PoolRequest(
        int rows,
        int maxDecodeTokens,
        List<MoeLayer> layers,
        String quantisation,
        String consumer,
        Parallelism parallelism,
        HostSource source,
        HostMemory memory) {
    public PoolRequest {
        layers = List.copyOf(layers);
    }

    /** A request of the Java backend: equal layers of the source's shape, on one rank. */
    public static PoolRequest onHost(PoolConfig config, HostSource source) {
        return of(config, source, HostMemory.NO_DEVICE);
    }

    /** As {@link #onHost} for a device, which needs the source pinned. */
    public static PoolRequest onDevice(PoolConfig config, HostSource source) {
        return of(config, source, HostMemory.PINNED);
    }

    private static PoolRequest of(PoolConfig config, HostSource source, HostMemory memory) {
        MoeLayer layer = new MoeLayer(
                config.experts(),
                config.topK(),
                source.layout(),
                source.activations().label());
        return new PoolRequest(
                config.rows(),
                config.maxDecodeTokens(),
                Collections.nCopies(config.layers(), layer),
                PoolGuards.QUANTISATION,
                PoolGuards.CONSUMER,
                Parallelism.NONE,
                source,
                memory);
    }
}
