package org.expertpool.pool.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines and life cycle over whole forwards on the emulated driver: bits, placements, refusals, failures. */
class DeviceForwardTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void everyEngineAndGraphModeGivesTheBitsOfTheJavaEngine() throws Exception {
        assertThat(EmulatedDriver.run(EmulatedForward.class, List.of(), Map.of()))
                .containsExactly(
                        "1 tokens: every forward equal",
                        "2 tokens: every forward equal",
                        "1 tokens routed ahead: all equal",
                        "2 tokens routed ahead: all equal",
                        "40 tokens routed ahead: all equal",
                        "reading is AHEAD, expected ALL or FIRST_TOKEN beside a rest that is not nothing",
                        "reading is AHEAD, expected ALL or FIRST_TOKEN: this engine's calls all have the same ids, weights"
                                + " and output",
                        "NONE: placements as planned",
                        "FULL_DECODE: placements as planned",
                        "NONE: invalid routing reported",
                        "FULL_DECODE: invalid routing reported",
                        "gate is 1, expected 0 until openGate has checked the placement",
                        "swap of experts 5 and 0 of layer 1: the gate is open, expected closed",
                        "row 1 (layer 0, expert 1) differs from its host row at byte 0 of 6912",
                        "rows is 1: min(rows, experts - 1) = 1, expected 0 (pool off) or at least topK = 2",
                        "host layers is 4, expected 0 to 3",
                        "graph mode is piecewise, expected another without the dense stand-in: a graph around nothing",
                        "single calls equal",
                        "not freed: 0");
    }

    /** A replay is one launch: no kernel of the host's, no capture and no memory more, however many forwards there are. */
    @Test
    void graphsReplay() throws Exception {
        List<String> four = EmulatedDriver.run(EmulatedForward.class, List.of("4"), Map.of("EMULATED_COUNT", "1"));
        List<String> forty = EmulatedDriver.run(EmulatedForward.class, List.of("40"), Map.of("EMULATED_COUNT", "1"));
        assertThat(four.get(0)).isEqualTo("4 forwards");
        assertThat(forty.get(0)).isEqualTo("40 forwards");
        assertThat(four.get(1)).contains(" 1 captures, 4 graphs, ");
        assertThat(forty.get(1)).isEqualTo(four.get(1).replace(" 4 graphs", " 40 graphs"));
    }

    @ParameterizedTest
    @CsvSource({
        "cuMemAlloc, 5, allocate",
        "cuLaunchKernel, 7, launch smxx_",
        "cuStreamEndCapture, 0, end a capture: cuStreamEndCapture",
        "cuGraphLaunch, 1, launch a graph: cuGraphLaunch",
        "cuStreamSynchronize, 20, time 1 forwards: cuStreamSynchronize",
        "cuStreamSynchronize, 21, run 3 forwards: cuStreamSynchronize",
        "cuEventCreate, 1, create an event: cuEventCreate",
        "cuEventElapsedTime, 0, read the time between events: cuEventElapsedTime",
        "cuMemcpyHtoDAsync, 4, copy",
    })
    void namesWhatFailedAndFreesTheRest(String call, int after, String message) throws Exception {
        List<String> lines = EmulatedDriver.run(
                EmulatedForward.class, List.of("4"), Map.of("EMULATED_FAIL", call, "EMULATED_FAIL_AFTER", "" + after));
        assertThat(lines).last().isEqualTo("not freed: 0");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).startsWith(message).endsWith("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    }

    @Test
    void nothingIsLeftWhereAnAllocationFails() throws Exception {
        String allocations =
                "cuMemAlloc,cuMemHostAlloc,cuMemHostRegister,cuStreamCreate,cuEventCreate,cuGraphInstantiate";
        assertThat(EmulatedDriver.run(EmulatedLeaks.class, List.of(), Map.of("EMULATED_FAIL_STAIRS", allocations)))
                .containsExactly(
                        "model: nothing left",
                        "planner: nothing left",
                        "uva rows: 1 failures",
                        "stream: nothing left",
                        "placed: nothing left",
                        "host-planned: nothing left",
                        "placed: nothing left",
                        "heat: nothing left",
                        "uva: 1 failures",
                        "pool: nothing left",
                        "forward: nothing left",
                        "other forward: nothing left",
                        "outputs equal",
                        "not freed: 0");
    }
}
