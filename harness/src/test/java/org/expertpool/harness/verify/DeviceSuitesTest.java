package org.expertpool.harness.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The suites that compare a device's work, on the emulated driver: whole, and with a kernel that does nothing. */
class DeviceSuitesTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @ParameterizedTest
    @CsvSource({"engines, 123", "fp16, 23", "planners, 2", "conversion, 4", "layers, 18", "prefill, 20"})
    void findsEverythingEqual(String suite, int comparisons) throws Exception {
        assertThat(run(suite, Map.of())).containsExactly(comparisons + " compared, 0 different");
    }

    @ParameterizedTest
    @CsvSource({
        "planners, smxx_lru_plan, 30, 'eager: differs: step 30, layer '",
        "conversion, smxx_expert_rows, 0, '64 x 64, FROM_LARGEST, BF16: differs: row 0 at its byte 0'",
        "DECODE, smxx_pool_token, 3, '2x5, top-2: pool N=2, 1 tokens, full_decode, gate 1 limit 0 interval 1: differs: forward '",
        "WIDE, smxx_pool_token, 3, '2x5, top-2: planned and wide in turn, N=2, 3 tokens: differs: forward '",
        "WIDE, smxx_partition, 0, '2x5, top-2: host view, N=2, 3 tokens, none: differs: forward 0 differs from resident'",
        "PEERS, smxx_moe_token, 8, '2x5, top-2: host-planned, layer, N=2, 1 tokens, none: differs: forward 0 '",
        "PEERS, smxx_moe_sum, 0, '2x5, top-2: heat, global, N=2, 1 tokens, full_decode: differs: forward 0 '",
        "FLOAT64, smxx_moe_gemms_8, 1, '2x5, top-2: float64, chain and largest output by layer: differs: layer 0: '",
        "fp16, smxx_moe_gemms_8_fp16, 0, '2x5, top-2, fp16: float64, chain and largest output by layer: differs: layer 1: '",
        "INVALID_ROUTING, smxx_lru_plan, 20, '2x5, top-2: invalid routing in layer 0, planned, full_decode: differs: '",
        "layers, smxx_pool_token_fp16, 0, 'broke off: misses of the pool: 0, expected 12 as imposed'",
        "prefill, smxx_moe_gemms_8, 20, 'broke off: outputs of 9 tokens differ between ways: '",
    })
    void findsWhatAnIdleKernelLeavesUndone(String suite, String kernel, String after, String difference)
            throws Exception {
        assertThat(run(suite, Map.of("EMULATED_SKIP", kernel, "EMULATED_SKIP_AFTER", after)))
                .anySatisfy(line -> assertThat(line).startsWith(difference));
    }

    /** Which kernel it takes shows where that one is idle. */
    @ParameterizedTest
    @CsvSource({"smxx_moe_token, false", "smxx_moe_decode, true"})
    void oneTokenTakesTheDecodeKernelWhereABlockMayHaveLessSharedMemory(String idle, boolean differs) throws Exception {
        List<String> lines = run(
                "PEERS", Map.of("EMULATED_SHARED_BYTES", "101376", "EMULATED_SKIP", idle, "EMULATED_SKIP_AFTER", "8"));
        assertThat(lines.stream().anyMatch(line -> line.contains(": differs: ")))
                .as(lines.toString())
                .isEqualTo(differs);
    }

    private static List<String> run(String suite, Map<String, String> environment) throws Exception {
        return EmulatedDriver.run(EmulatedSuites.class, List.of(suite), environment).stream()
                .filter(line -> !line.equals("not freed: 0"))
                .toList();
    }
}
