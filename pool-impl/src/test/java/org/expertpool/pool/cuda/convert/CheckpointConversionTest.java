package org.expertpool.pool.cuda.convert;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CheckpointConversionTest {
    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    /** Two layers of four experts into pinned slabs, three on the device at a time. */
    @Test
    void loadsTheHostsBytes() throws Exception {
        assertThat(EmulatedDriver.run(EmulatedLoad.class, List.of(), Map.of()))
                .containsExactly(
                        "most 4: 8 rows and 24 alphas equal, losses equal",
                        "most 3: 8 rows and 24 alphas equal, losses equal",
                        "most 1: 8 rows and 24 alphas equal, losses equal",
                        "refused: model.safetensors: tensor model.layers.1.mlp.experts.2.down_proj.weight_scale_2: is -1.0,"
                                + " expected a finite number that is not negative",
                        "refused: layer 0 expert 1 up: Marlin scales: alpha of global scale 1.2676506E30",
                        "not freed: 0");
    }

    @Test
    void freesWhatItHasWhereTheDeviceFails() throws Exception {
        assertThat(EmulatedDriver.run(
                        EmulatedLoad.class,
                        List.of(),
                        Map.of("EMULATED_FAIL", "cuStreamSynchronize", "EMULATED_FAIL_AFTER", "1")))
                .last()
                .isEqualTo("not freed: 0");
    }
}
