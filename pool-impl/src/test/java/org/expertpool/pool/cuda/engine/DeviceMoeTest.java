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
                        "bf16 not finite equal",
                        "bf16 in parts equal",
                        "bf16 copied rows equal",
                        "fp16 bank 1 2 3 4 5 130 tokens equal",
                        "fp16 host view 1 2 3 4 5 130 tokens equal",
                        "fp16 missed rows kept; tokens is 5, too many to read missed rows",
                        "fp16 not finite equal",
                        "fp16 in parts equal",
                        "fp16 copied rows equal",
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
        List<String> lines = EmulatedDriver.run(
                EmulatedMoe.class, List.of(), Map.of("EMULATED_FAIL", call, "EMULATED_FAIL_AFTER", "" + after));
        assertThat(lines).last().isEqualTo("not freed: 0");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).startsWith(message).endsWith("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    }

    @Test
    void refusesWhatTheKernelsCannotTake() {
        ExpertRowLayout row = new ExpertRowLayout(64, 64);
        refuses(
                () -> new MoeShape(4097, 2, row, ActivationType.BF16),
                "experts is 4097, expected 1 to 4096 with backend cuda");
        refuses(() -> new MoeShape(8, 9, row, ActivationType.BF16), "topK is 9, expected 1 to 8 with backend cuda");
        refuses(
                () -> new MoeShape(8, 2, new ExpertRowLayout(65600, 64), ActivationType.BF16),
                "hidden is 65600, expected 64 to 65536 with backend cuda");
        refuses(
                () -> new MoeShape(8, 2, new ExpertRowLayout(64, 131072), ActivationType.BF16),
                "width is 131072, expected 64 to 65536 with backend cuda");
        refuses(
                () -> new MoeShape(8, 2, row, ActivationType.BF16).lanes(8193),
                "tokens is 8193, expected 1 to 8192 with backend cuda");
    }

    private static void refuses(Runnable call, String message) {
        assertThatThrownBy(call::run).isInstanceOf(BadInputException.class).hasMessage(message);
    }
}
