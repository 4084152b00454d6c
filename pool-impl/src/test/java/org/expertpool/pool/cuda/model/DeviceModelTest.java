package org.expertpool.pool.cuda.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Router and stand-ins on the emulated driver: equal to plain loops in Java, everything freed, bad shapes refused. */
class DeviceModelTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void equalPlainLoopsAndFreeEverything() throws Exception {
        assertThat(EmulatedDriver.run(EmulatedModel.class, List.of(), Map.of()))
                .containsExactly(
                        "router equal",
                        "router equal",
                        "stand-ins equal",
                        "speeds 0.016384 0.016384 0.016384 0.032768",
                        "router: tokens is 0, expected 1 to 8192",
                        "router: hidden is 12, expected a multiple of 8 up to 65536",
                        "router: experts is 4097, expected 1 to 4096",
                        "router: topK is 65, expected 1 to 64",
                        "stand-in: bytes is 24, expected a multiple of 16",
                        "not freed: 0");
    }
}
