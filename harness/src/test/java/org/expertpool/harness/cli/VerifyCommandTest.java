package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class VerifyCommandTest {
    @Test
    void jsonIsAllOfTheStandardOutputAndHoldsTheTable() throws IOException {
        CommandResult table = CommandResult.poolbench("verify", "--backend", "java", "--steps", "10");
        CommandResult json = CommandResult.poolbench("verify", "--backend", "java", "--steps", "10", "--json");
        assertThat(json.exit()).isZero();
        assertThat(json.err()).contains("verify: java, ");
        JsonNode document = new ObjectMapper().readTree(json.out());
        assertThat(document.path("all_equal").asBoolean()).isTrue();
        assertThat(document.path("cases")).hasSizeGreaterThan(2).allSatisfy(row -> {
            assertThat(table.out()).contains("| " + row.path("case").asText() + " ");
            assertThat(row.path("result").asText()).isEqualTo("equal");
            assertThat(row.path("steps").isIntegralNumber()).isTrue();
        });
    }
}
