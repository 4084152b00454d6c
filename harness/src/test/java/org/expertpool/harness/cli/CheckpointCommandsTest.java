package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.expertpool.harness.verify.SmallCheckpoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointCommandsTest {
    @TempDir
    Path folder;

    @Test
    void showsWhatACheckpointHolds() throws IOException {
        SmallCheckpoint.write(folder, 0f);
        CommandResult result = CommandResult.poolbench("checkpoint", "info", folder.toString(), "--values", "--json");
        assertThat(result.exit()).isZero();
        JsonNode facts = new ObjectMapper().readTree(result.out());
        assertThat(facts.get("tensors").asInt()).isEqualTo(2 * 8 * 9);
        assertThat(facts.get("all_expert_bytes").asLong()).isEqualTo(2 * 8 * 27L * 128 * 64 / 16);
        assertThat(facts.get("block_scales").asLong()).isEqualTo(2 * 8 * 3 * 128 * 64 / 16L);
        assertThat(facts.get("headers_sha256").asText()).hasSize(64);
    }

    @Test
    void takesACheckpointWhereAModelIsNamed() throws IOException {
        SmallCheckpoint.write(folder, 0f);
        CommandResult result = CommandResult.poolbench("capacity", "--model", folder.toString(), "--memory", "1GiB");
        assertThat(result.exit()).isZero();
        assertThat(result.out()).contains("2 layers x 8 experts, top-2");
    }

    @Test
    void verifiesACheckpoint() throws IOException {
        SmallCheckpoint.write(folder, 0f);
        CommandResult sound = CommandResult.poolbench("verify", "--backend", "java", "--checkpoint", folder.toString());
        assertThat(sound.exit()).isZero();
        assertThat(sound.out()).contains("| pool = resident, N=4", "of at most 1e-02");
        SmallCheckpoint.write(folder, 1f);
        assertThat(CommandResult.poolbench("verify", "--backend", "java", "--checkpoint", folder.toString())
                        .exit())
                .isEqualTo(1);
    }

    /** Exit 2 and one line that names the file and the tensor, from every command. */
    @Test
    void refusesABadCheckpointInOneLine() throws IOException {
        Path file = SmallCheckpoint.write(folder, 0f).resolve("model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 5));
        for (String command : new String[] {
            "checkpoint info " + folder,
            "verify --backend java --checkpoint " + folder,
            "capacity --memory 1GiB --model " + folder
        }) {
            CommandResult refused = CommandResult.poolbench(command.split(" "));
            assertThat(refused.exit()).as(command).isEqualTo(2);
            assertThat(refused.err().strip()).hasLineCount(1).contains(file + ": tensor model.layers.1.");
        }
    }
}
