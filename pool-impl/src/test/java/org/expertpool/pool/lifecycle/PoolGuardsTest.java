package org.expertpool.pool.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.plan.PoolConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class PoolGuardsTest {
    private static final MoeLayer LAYER = new MoeLayer(16, 4, PatternSource.LAYOUT, "bf16");
    private static final ExpertRowLayout WIDER = new ExpertRowLayout(64, 128);

    @Test
    void admitsWhatMeetsEveryGuard() {
        PoolConfig config = PoolGuards.admit(request().make());
        assertThat(config).isEqualTo(new PoolConfig(3, 16, 4, 8, 2));
        assertThat(PoolGuards.admit(request().memory(HostMemory.NO_DEVICE).make()))
                .isEqualTo(config);
        assertThat(PoolGuards.admit(request().rows(4).make()).residentPerLayer())
                .isEqualTo(4);
        assertThat(PoolGuards.admit(request().rows(99).make()).residentPerLayer())
                .isEqualTo(15);
    }

    @Test
    void aPoolThatIsOffNeedsNothing() {
        Request off = request().rows(0).quantisation("fp8").source(null);
        assertThat(PoolGuards.admit(off.make()).enabled()).isFalse();
        // Nor layers of one shape: without the pool, a model runs as it did before there was one.
        Request mixed = off.layer(1, new MoeLayer(8, 2, WIDER, "fp16"));
        assertThat(PoolGuards.admit(mixed.make()).enabled()).isFalse();
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                arguments(request().rows(-1), "rows is -1, expected 0 (pool off) or at least topK = 4"),
                arguments(
                        request().rows(3),
                        "rows is 3: min(rows, experts - 1) = 3, expected 0 (pool off) or at least topK = 4"),
                arguments(
                        request().layers(Collections.nCopies(3, new MoeLayer(4, 4, PatternSource.LAYOUT, "bf16"))),
                        "rows is 8: min(rows, experts - 1) = 3, expected 0 (pool off) or at least topK = 4"),
                arguments(request().layers(List.of()), "layers is empty, expected at least one MoE layer"),
                arguments(
                        request().layer(2, new MoeLayer(17, 4, PatternSource.LAYOUT, "bf16")),
                        "layer 2 experts is 17, expected 16 as in layer 0"),
                arguments(
                        request().layer(1, new MoeLayer(16, 5, PatternSource.LAYOUT, "bf16")),
                        "layer 1 topK is 5, expected 4 as in layer 0"),
                arguments(
                        request().layer(1, new MoeLayer(16, 4, WIDER, "bf16")),
                        "layer 1 row is " + WIDER + ", expected " + PatternSource.LAYOUT + " as in layer 0"),
                arguments(
                        request().layer(2, new MoeLayer(16, 4, PatternSource.LAYOUT, "fp16")),
                        "layer 2 elementType is fp16, expected bf16 as in layer 0"),
                arguments(
                        request().layer(0, new MoeLayer(16, 4, PatternSource.LAYOUT, null)),
                        "layer 1 elementType is bf16, expected null as in layer 0"),
                arguments(request().quantisation("mxfp4"), "quantisation is mxfp4, expected nvfp4"),
                arguments(request().quantisation(null), "quantisation is null, expected nvfp4"),
                arguments(request().consumer("cutlass"), "consumer is cutlass, expected marlin"),
                arguments(request().parallelism(2, 1, 1), "expert parallelism is 2, expected 1"),
                arguments(request().parallelism(1, 8, 1), "data parallelism is 8, expected 1"),
                arguments(request().parallelism(1, 1, 0), "sequence parallelism is 0, expected 1"),
                arguments(
                        request().source(null),
                        "host source is missing, expected one dense row per expert in pinned memory"),
                arguments(request().memory(HostMemory.PAGEABLE), "host source memory is PAGEABLE, expected PINNED"),
                arguments(request().memory(HostMemory.LOCKED), "host source memory is LOCKED, expected PINNED"),
                arguments(request().source(new PatternSource(2, 16)), "host source layers is 2, expected 3"),
                arguments(request().source(new PatternSource(3, 15)), "host source experts is 15, expected 16"),
                arguments(
                        request().layers(Collections.nCopies(3, new MoeLayer(16, 4, WIDER, "bf16"))),
                        "host source row is " + PatternSource.LAYOUT + ", expected " + WIDER),
                arguments(
                        request().layers(Collections.nCopies(3, new MoeLayer(16, 4, PatternSource.LAYOUT, "fp16"))),
                        "host source activations is bf16, expected fp16"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void refusesNamingFieldValueAndRule(Request request, String message) {
        assertThatThrownBy(() -> PoolGuards.admit(request.make()))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    private static Request request() {
        return new Request();
    }

    /** A request that is admitted until something in it is changed. */
    private static final class Request {
        private int rows = 8;
        private List<MoeLayer> layers = Collections.nCopies(3, LAYER);
        private String quantisation = "nvfp4";
        private String consumer = "marlin";
        private Parallelism parallelism = Parallelism.NONE;
        private HostSource source = new PatternSource(3, 16);
        private HostMemory memory = HostMemory.PINNED;

        PoolRequest make() {
            return new PoolRequest(rows, 2, layers, quantisation, consumer, parallelism, source, memory);
        }

        Request rows(int value) {
            rows = value;
            return this;
        }

        Request layers(List<MoeLayer> value) {
            layers = value;
            return this;
        }

        Request layer(int index, MoeLayer value) {
            layers = new ArrayList<>(layers);
            layers.set(index, value);
            return this;
        }

        Request quantisation(String value) {
            quantisation = value;
            return this;
        }

        Request consumer(String value) {
            consumer = value;
            return this;
        }

        Request parallelism(int expert, int data, int sequence) {
            parallelism = new Parallelism(expert, data, sequence);
            return this;
        }

        Request source(HostSource value) {
            source = value;
            return this;
        }

        Request memory(HostMemory value) {
            memory = value;
            return this;
        }
    }
}
