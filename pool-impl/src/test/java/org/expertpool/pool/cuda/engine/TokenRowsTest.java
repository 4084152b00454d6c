package org.expertpool.pool.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Embedding rows beside an engine's forwards, on the emulated driver: each forward gets its tokens' rows in time. */
class TokenRowsTest {
    @TempDir
    Path folder;

    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void everyForwardGetsItsTokensRows() throws Exception {
        String file = folder.resolve("rows").toString();
        assertThat(EmulatedDriver.run(EmulatedTokenRows.class, List.of(file), Map.of()))
                .containsExactly(
                        "BEFORE_FORWARD: rows and outputs as expected",
                        "DURING_FIRST_LAYER: rows and outputs as expected",
                        "not freed: 0");
    }
}
