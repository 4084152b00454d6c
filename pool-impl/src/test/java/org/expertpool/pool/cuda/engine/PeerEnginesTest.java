package org.expertpool.pool.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The engines that a pool is compared with, on the emulated driver: bits, placements, refusals, failures. */
class PeerEnginesTest {
    private static final String IN_GRAPH =
            "a graph around engine host-planned: the host decides between a layer's router"
                    + " and its experts, which a graph can't hold; expected graph mode none or piecewise";

    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void enginesGiveTheBitsOfTheJavaEngineAndThePlacementsOfTheirPolicies() throws Exception {
        assertThat(EmulatedDriver.run(EmulatedPeers.class, List.of(), Map.of()))
                .containsExactly(
                        "host-planned: outputs and placements as expected",
                        "host-planned: wide calls between equal",
                        "heat: outputs and placements as expected",
                        "stream: outputs as expected, and uva's budgets",
                        "single calls equal",
                        IN_GRAPH,
                        IN_GRAPH,
                        "policy is bound.belady, expected one that knows nothing of a trace beforehand",
                        "policy is heat.exchange(0.999,50,1.3,8), expected one that decides within a forward",
                        "policy is evict.lru, expected heat.exchange: a placement that forwards don't change",
                        "resident rows is 8, expected 0 to 7",
                        "host source layers is 3, expected 2",
                        "not freed: 0");
    }

    @ParameterizedTest
    @CsvSource({
        "host-planned, cuMemcpyDtoHAsync, 3, copy",
        "host-planned, cuMemcpyHtoDAsync, 20, copy",
        "host-planned, cuStreamSynchronize, 14, read back a layer's routing",
        "heat, cuMemcpyDtoDAsync, 2, copy",
        "heat, cuStreamSynchronize, 8, read back a forward's routing",
        "stream, cuEventRecord, 2, record an event",
        "stream, cuMemcpyDtoDAsync, 4, copy",
    })
    void namesWhatFailedAndFreesTheRest(String engine, String call, int after, String message) throws Exception {
        List<String> lines = EmulatedDriver.run(
                EmulatedPeers.class, List.of(engine), Map.of("EMULATED_FAIL", call, "EMULATED_FAIL_AFTER", "" + after));
        assertThat(lines).last().isEqualTo("not freed: 0");
        assertThat(lines)
                .anySatisfy(line -> assertThat(line).startsWith(message).endsWith("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    }
}
