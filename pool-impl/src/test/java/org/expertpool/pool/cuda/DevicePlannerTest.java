package org.expertpool.pool.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The binding end to end on the emulated driver: same plans and tables as the reference; failures named, all freed. */
class DevicePlannerTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @ParameterizedTest
    @CsvSource({"EAGER", "GRAPH"})
    void equalsTheReferenceAndFreesEverything(String launch) throws Exception {
        assertThat(run(launch, Map.of())).containsExactly("STUB 250.0", "160 steps equal", "not freed: 0");
    }

    @ParameterizedTest
    @CsvSource({
        "EAGER, cuModuleLoadData, 0, load the kernels on stub device 0: cuModuleLoadData",
        "EAGER, cuMemAlloc, 1, allocate 1840 device bytes: cuMemAlloc",
        "EAGER, cuMemHostAlloc, 2, pin 120 host bytes: cuMemHostAlloc",
        "EAGER, cuLaunchKernel, 3, launch smxx_lru_plan: cuLaunchKernel",
        "EAGER, cuStreamSynchronize, 9, plan layer",
        "GRAPH, cuLaunchKernel, 1, launch smxx_lru_plan: cuLaunchKernel",
        "GRAPH, cuStreamEndCapture, 0, end a capture: cuStreamEndCapture",
        "GRAPH, cuGraphInstantiate, 1, instantiate a graph: cuGraphInstantiate",
        "GRAPH, cuGraphLaunch, 5, launch a graph: cuGraphLaunch",
        "EAGER, cuMemFree, 0, free 1840 device bytes: cuMemFree",
    })
    void namesWhatFailedAndFreesTheRest(String launch, String call, int after, String message) throws Exception {
        List<String> lines = run(launch, Map.of("EMULATED_FAIL", call, "EMULATED_FAIL_AFTER", "" + after));
        assertThat(lines).last().isEqualTo("not freed: 0");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).startsWith(message).endsWith("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    }

    @Test
    void aContextThatDoesNotOpenIsNamed() throws Exception {
        assertThat(run("EAGER", Map.of("EMULATED_FAIL", "cuDevicePrimaryCtxRetain")))
                .containsExactly("open device 0: cuDevicePrimaryCtxRetain: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
        assertThat(run("EAGER", Map.of("EMULATED_FAIL", "cuCtxSetCurrent")))
                .containsExactly("open device 0: cuCtxSetCurrent: CUDA_ERROR_ILLEGAL_ADDRESS (700)", "not freed: 0");
    }

    private static List<String> run(String launch, Map<String, String> environment) throws Exception {
        return EmulatedDriver.run(EmulatedDevice.class, List.of(launch), environment);
    }
}
