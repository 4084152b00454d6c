package org.expertpool.harness.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class VerificationTableTest {
    @Test
    void jsonSaysTheSame() throws IOException {
        VerificationTable table = new VerificationTable();
        table.add("java", "", "a", new Verification.Outcome(10, 3, 2, Optional.of("step 9: clock")), 0.25);
        JsonNode json = new ObjectMapper().readTree(table.json());
        assertThat(json.path("all_equal").asBoolean(true)).isFalse();
        assertThat(json.path("cases").toString())
                .isEqualTo("[{\"backend\":\"java\",\"driver_kind\":null,\"case\":\"a\",\"steps\":10,\"promoted\":3,"
                        + "\"staged\":2,\"seconds\":0.3,\"result\":\"differs: step 9: clock\"}]");
    }

    @Test
    void oneDifferenceSpoilsTheWhole() {
        VerificationTable table = new VerificationTable();
        table.add("java", "", "a", new Verification.Outcome(10, 3, 2, Optional.empty()), 0.25);
        assertThat(table.allEqual()).isTrue();
        table.add("cuda", "real", "b, eager", new Verification.Outcome(4, 1, 0, Optional.of("step 3: clock")), 1);
        assertThat(table.allEqual()).isFalse();
        assertThat(table.csv()).isEqualTo("""
                        backend,driver_kind,case,steps,promoted,staged,seconds,result
                        java,,a,10,3,2,0.3,equal
                        cuda,real,"b, eager",4,1,0,1.0,differs: step 3: clock
                        """);
        assertThat(table.markdown()).contains("| b, eager |", "differs: step 3: clock");
    }
}
