package org.expertpool.pool.lifecycle;

import java.util.Objects;
import java.util.function.Function;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.plan.PoolConfig;

/** The conditions of pool-semantics 2, judged before anything is allocated. Each refusal names field, value and rule. */
public final class PoolGuards {
    static final String QUANTISATION = "nvfp4";
    static final String CONSUMER = "marlin";

    private PoolGuards() {}

    /** The configuration that the request describes; {@link BadInputException} where it is not admitted. */
    public static PoolConfig admit(PoolRequest request) {
        require(!request.layers().isEmpty(), "layers", "empty", "at least one MoE layer");
        MoeLayer first = request.layers().get(0);
        PoolConfig config = new PoolConfig(
                request.layers().size(), first.experts(), first.topK(), request.rows(), request.maxDecodeTokens());
        if (config.enabled()) {
            sameInAllLayers(request, "experts", MoeLayer::experts);
            sameInAllLayers(request, "topK", MoeLayer::topK);
            sameInAllLayers(request, "row", MoeLayer::row);
            sameInAllLayers(request, "elementType", MoeLayer::elementType);
            require(QUANTISATION.equals(request.quantisation()), "quantisation", request.quantisation(), QUANTISATION);
            require(CONSUMER.equals(request.consumer()), "consumer", request.consumer(), CONSUMER);
            oneRank("expert", request.parallelism().expert());
            oneRank("data", request.parallelism().data());
            oneRank("sequence", request.parallelism().sequence());
            hostSource(request, config, first);
        }
        return config;
    }

    private static void hostSource(PoolRequest request, PoolConfig config, MoeLayer layer) {
        HostSource source = request.source();
        require(source != null, "host source", "missing", "one dense row per expert in pinned memory");
        require(
                request.memory() == HostMemory.PINNED || request.memory() == HostMemory.NO_DEVICE,
                "host source memory",
                request.memory(),
                "PINNED");
        require(source.layers() == config.layers(), "host source layers", source.layers(), config.layers());
        require(source.experts() == config.experts(), "host source experts", source.experts(), config.experts());
        require(source.layout().equals(layer.row()), "host source row", source.layout(), layer.row());
        String made = source.activations().label();
        require(made.equals(layer.elementType()), "host source activations", made, layer.elementType());
    }

    private static void sameInAllLayers(PoolRequest request, String field, Function<MoeLayer, Object> value) {
        Object expected = value.apply(request.layers().get(0));
        for (int layer = 1; layer < request.layers().size(); layer++) {
            Object actual = value.apply(request.layers().get(layer));
            require(
                    Objects.equals(expected, actual),
                    "layer " + layer + " " + field,
                    actual,
                    expected + " as in layer 0");
        }
    }

    private static void oneRank(String kind, int ranks) {
        require(ranks == 1, kind + " parallelism", ranks, 1);
    }

    private static void require(boolean holds, String field, Object value, Object expected) {
        if (!holds) {
            throw new BadInputException(field + " is " + value + ", expected " + expected);
        }
    }
}
