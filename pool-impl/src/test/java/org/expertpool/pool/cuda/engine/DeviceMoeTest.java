package org.expertpool.pool.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.expertpool.pool.marlin.ActivationType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pinned source, bank, row copy and MoE kernels on the emulated driver, whose sums are the Java engine's. */
class DeviceMoeTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void equalsTheJavaEngineAndFreesEverything() throws Exception {
        assertThat(EmulatedDriver.run(EmulatedMoe.class, List.of(), Map.of()))
                .containsExactly(
                        "bf16 bank 1 2 3 4 5 130 tokens equal",
                        "bf16 host view 1 2 3 4 5 130 tokens equal",
                        "bf16 missed rows kept; tokens is 5, too many to read missed rows",
                        "bf16 bound first equal",
                        "bf16 not finite equal",
                        "bf16 in parts equal",
                        "bf16 copied rows equal",
                        "bf16 MoE scratch memory on a second stream, expected one memory a stream",
                        "fp16 bank 1 2 3 4 5 130 tokens equal",
                        "fp16 host view 1 2 3 4 5 130 tokens equal",
                        "fp16 missed rows kept; tokens is 5, too many to read missed rows",
                        "fp16 bound first equal",
                        "fp16 not finite equal",
                        "fp16 in parts equal",
                        "fp16 copied rows equal",
                        "fp16 MoE scratch memory on a second stream, expected one memory a stream",
                        "not freed: 0");
    }

    @Test
    void takesTheDriversMemoryWhereTheJvmGrantsTooLittle() throws Exception {
        Map<String, String> little =
                Map.of("JDK_JAVA_OPTIONS", "-XX:MaxDirectMemorySize=2m", "EMULATED_FAIL", "cuMemHostRegister");
        assertThat(EmulatedDriver.run(EmulatedMoe.class, List.of("pin"), little))
                .containsExactly("pinned", "not freed: 0");
    }

    @ParameterizedTest
    @CsvSource({
        "cuMemHostRegister, 1, pin 41472 host bytes: cuMemHostRegister",
        "cuMemHostGetDevicePointer, 1, map 41472 pinned bytes: cuMemHostGetDevicePointer",
        "cuCtxPushCurrent, 1, use the device: cuCtxPushCurrent",
        "cuMemAlloc, 0, allocate",
        "cuMemsetD8Async, 0, fill",
        "cuLaunchKernel, 2, launch smxx_moe_decode: cuLaunchKernel",
    })
    void namesWhatFailedAndFreesTheRest(String call, int after, String message) throws Exception {
        // On one thread: where several pin rows, a lost device fails them all at once, and any may be the one that is
        // told.
        Map<String, String> failing = Map.of(
                "EMULATED_FAIL",
                call,
                "EMULATED_FAIL_AFTER",
                "" + after,
                "JDK_JAVA_OPTIONS",
                "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0");
        List<String> lines = EmulatedDriver.run(EmulatedMoe.class, List.of(), failing);
        assertThat(lines).last().isEqualTo("not freed: 0");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).startsWith(message).endsWith("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    }

    /** The ends of what {@code refusedMoe} of {@code pool/moe.h} lets through; a row's layout takes whole tiles of 64 alone. */
    @Test
    void takesEveryShapeUpToTheKernelsLimits() {
        assertThat(shape(4096, 4096, 65_536, 65_536).lanes(8192)).isEqualTo(8192 * 4096);
        assertThat(shape(1, 1, 64, 64).lanes(1)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1, 64, 64, 1, 'experts is 0, expected 1 to 4096 with backend cuda'",
        "4097, 2, 64, 64, 1, 'experts is 4097, expected 1 to 4096 with backend cuda'",
        "8, 0, 64, 64, 1, 'topK is 0, expected 1 to 8 with backend cuda'",
        "8, 9, 64, 64, 1, 'topK is 9, expected 1 to 8 with backend cuda'",
        "8, 2, 65600, 64, 1, 'hidden is 65600, expected 64 to 65536 with backend cuda'",
        "8, 2, 64, 131072, 1, 'width is 131072, expected 64 to 65536 with backend cuda'",
        "8, 2, 64, 64, 0, 'tokens is 0, expected 1 to 8192 with backend cuda'",
        "8, 2, 64, 64, 8193, 'tokens is 8193, expected 1 to 8192 with backend cuda'",
    })
    void refusesWhatTheKernelsCannotTake(int experts, int topK, int hidden, int width, int tokens, String message) {
        assertThatThrownBy(() -> shape(experts, topK, hidden, width).lanes(tokens))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @CsvSource({"0, 64", "-64, 64", "32, 64", "2592, 640", "64, 0", "64, 80"})
    void refusesRowsThatAreNotWholeTiles(int hidden, int width) {
        assertThatThrownBy(() -> new ExpertRowLayout(hidden, width))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(
                        hidden % 64 == 0 && hidden > 0 ? "expertWidth is " + width : "hidden is " + hidden);
    }

    private static MoeShape shape(int experts, int topK, int hidden, int width) {
        return new MoeShape(experts, topK, new ExpertRowLayout(hidden, width), ActivationType.BF16);
    }
}
