package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.expertpool.pool.cuda.CudaContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    @Test
    void enginesAloneWithoutADeviceAreNoSuccess() {
        assertThat(CommandResult.poolbench("verify", "--engines", "--backend", "java")
                        .err())
                .isEqualTo(
                        "poolbench verify: --engines with --backend java: engines run on a device, expected --backend"
                                + " cuda\n");
        assumeThat(CudaContext.whyNot()).isPresent();
        CommandResult alone = CommandResult.poolbench("verify", "--engines");
        assertThat(alone.exit()).isEqualTo(2);
        assertThat(alone.err()).startsWith("poolbench verify: backend cuda: ").hasLineCount(1);
    }

    @Test
    void aTableThatCannotBeWrittenIsRefusedBeforeTheWork(@TempDir Path folder) {
        Path csv = folder.resolve("none/table.csv");
        CommandResult result = CommandResult.poolbench("verify", "--backend", "java", "--csv", csv.toString());
        assertThat(result.exit()).isEqualTo(2);
        assertThat(result.err())
                .isEqualTo("poolbench verify: output " + csv + ": directory " + csv.getParent() + " does not exist\n");
    }
}
