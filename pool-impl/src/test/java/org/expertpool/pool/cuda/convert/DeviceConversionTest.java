package org.expertpool.pool.cuda.convert;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The conversion on the emulated driver: the bytes, alphas and losses of the host's packer. */
class DeviceConversionTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void equalsTheHostsPackerUnderEveryRuleAndType() throws Exception {
        List<String> lines = EmulatedDriver.run(EmulatedConversion.class, List.of(), Map.of());
        assertThat(lines).filteredOn(line -> line.endsWith("rows equal")).hasSize(12);
        String refused =
                "layer 7 expert 1 up: Marlin scales: block scale 77 is %s, expected a number that is not negative";
        assertThat(lines)
                .containsSubsequence(
                        refused.formatted("0x81 (-0.001953125)"),
                        refused.formatted("0x7f (NaN)"),
                        refused.formatted("0xff (NaN)"),
                        "not freed: 0");
    }

    @Test
    void namesWhatFailed() throws Exception {
        assertThat(EmulatedDriver.run(
                        EmulatedConversion.class,
                        List.of(),
                        Map.of("EMULATED_FAIL", "cuLaunchKernel", "EMULATED_FAIL_AFTER", "1")))
                .containsExactly(
                        "launch smxx_expert_rows: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700)", "not freed: 0");
    }
}
