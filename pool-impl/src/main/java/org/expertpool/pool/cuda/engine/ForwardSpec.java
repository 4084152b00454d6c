package org.expertpool.pool.cuda.engine;

/**
 * What a {@link DeviceForward} runs.
 *
 * @param tokens of a forward
 * @param tape its routing
 * @param inputs different inputs; layer l gets number {@code l % inputs}
 * @param seed of the inputs
 * @param hashSlots forwards whose hashes are kept, the last ones
 * @param reading of outputs before the next layer is routed
 * @param mode how it reaches the device
 * @param rest what each layer does beside its experts
 */
public record ForwardSpec(
        int tokens,
        RoutingTape tape,
        int inputs,
        long seed,
        int hashSlots,
        RouteReplay.Reading reading,
        DecodeGraph mode,
        LayerRest rest) {
    /** All of every output read and hashed, and nothing beside the MoE. */
    public static ForwardSpec of(int tokens, RoutingTape tape, int inputs, long seed, int hashSlots, DecodeGraph mode) {
        return new ForwardSpec(tokens, tape, inputs, seed, hashSlots, RouteReplay.Reading.ALL, mode, LayerRest.NOTHING);
    }

    public ForwardSpec withReading(RouteReplay.Reading next) {
        return new ForwardSpec(tokens, tape, inputs, seed, hashSlots, next, mode, rest);
    }

    public ForwardSpec withRest(LayerRest next) {
        return new ForwardSpec(tokens, tape, inputs, seed, hashSlots, reading, mode, next);
    }

    /** A read of so many bytes in each layer in the place of its dense weights, and nothing else. */
    public ForwardSpec withDenseBytes(long next) {
        return withRest(LayerRest.dense(next));
    }
}
