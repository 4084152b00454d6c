package org.expertpool.pool.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Host view and streaming on the emulated driver, beside the Java engine with all experts resident. */
class WidePoolTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void equalsTheResidentEngineAndFreesEverything() throws Exception {
        assertThat(EmulatedDriver.run(EmulatedWide.class, List.of(), Map.of()))
                .containsExactly(
                        "HostView[]: 6 calls equal",
                        "Streamed[shape=Shape[ringRows=128, groupRows=64, lastRows=4], prefillPromote=0]: 6 calls equal",
                        "Streamed[shape=Shape[ringRows=5, groupRows=2, lastRows=1], prefillPromote=0]: 6 calls equal",
                        "Streamed[shape=Shape[ringRows=1, groupRows=1, lastRows=1], prefillPromote=0]: 6 calls equal",
                        "host view: captured forwards equal",
                        "streamed: eager forwards equal",
                        "4 rows a call stay: 8 calls equal, placement as by the rule",
                        "bad lanes: outputs equal, invalid routing at layer 1, lane 1: an expert id outside -1 to 12,"
                                + " or a weight that is negative or not finite",
                        "graph mode full: rows streamed by the copy engine have addresses that the host chooses,"
                                + " which a graph can't hold; expected the host view",
                        "not freed: 0");
    }

    @ParameterizedTest
    @CsvSource({
        "cuMemHostAlloc, 8, pin",
        "cuLaunchKernel, 5, launch smxx_partition: cuLaunchKernel",
        "cuStreamWaitEvent, 1, wait for an event: cuStreamWaitEvent",
        "cuEventSynchronize, 1, learn what layer 1 lacks: cuEventSynchronize",
    })
    void namesWhatFailedAndFreesTheRest(String call, int after, String message) throws Exception {
        List<String> lines = EmulatedDriver.run(
                EmulatedWide.class, List.of("brief"), Map.of("EMULATED_FAIL", call, "EMULATED_FAIL_AFTER", "" + after));
        assertThat(lines).last().isEqualTo("not freed: 0");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).startsWith(message).endsWith("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    }
}
