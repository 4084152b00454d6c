package org.expertpool.harness.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CheckpointVerificationTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource
    void findsASoundCheckpointSound(ActivationType type) throws IOException {
        List<CheckpointVerification.Finding> findings = verify(SmallCheckpoint.write(folder, 0f), type);
        assertThat(findings).allMatch(CheckpointVerification.Finding::holds);
        assertThat(findings)
                .extracting(CheckpointVerification.Finding::name)
                .containsExactly(
                        "2 of 2 layers loaded, relative loss of block scales",
                        "resident, chain against float64",
                        "resident, single lanes against float64",
                        "float64 against golden outputs",
                        "resident, golden inputs rounded, against float64",
                        "resident, golden outputs, inputs' rounding included",
                        "pool = resident, N=2",
                        "partition path = resident, N=2",
                        "pool = resident, N=4",
                        "partition path = resident, N=4",
                        "pool = resident, N=7",
                        "partition path = resident, N=7");
        assertThat(findings.get(6).result()).matches("equal, [1-9][0-9]* promoted, 0 staged");
        assertThat(findings.get(7).result()).matches("equal, 4 experts in the bank, [1-9][0-9]* not");
        assertThat(findings.get(3).result()).endsWith("of at most 1e-05");
    }

    /** A golden output that is off by a tenth of its size shows, and shows nowhere else. */
    @Test
    void findsAWrongGoldenOutput() throws IOException {
        List<CheckpointVerification.Finding> findings = verify(SmallCheckpoint.write(folder, 1f));
        assertThat(findings.stream().filter(finding -> !finding.holds()))
                .extracting(CheckpointVerification.Finding::name)
                .containsExactly(
                        "float64 against golden outputs", "resident, golden outputs, inputs' rounding included");
    }

    @Test
    void doesWithoutGoldenOutputs() throws IOException {
        SmallCheckpoint.write(folder, 0f);
        Files.delete(folder.resolve("golden/golden.json"));
        assertThat(verify(folder)).hasSize(9).allMatch(CheckpointVerification.Finding::holds);
    }

    @Test
    void refusesGoldenFilesThatDoNotFit() throws IOException {
        SmallCheckpoint.write(folder, 0f);
        Path index = folder.resolve("golden/golden.json");
        String text = Files.readString(index);
        for (String[] change : new String[][] {
            {"\"format\":1", "\"format\":2", "format is 2, expected 1"},
            {"\"hidden\":128", "\"hidden\":64", "hidden is 64, expected 128"},
            {"\"layers\":2", "\"layers\":1", "layers is 1, expected more than 1"},
            {"\"offset\":64", "\"offset\":99999", "beyond the end of its file"},
            {"\"offset\":64", "\"at\":64", "field offset is missing"},
            {"{", "[", "not JSON"}
        }) {
            Files.writeString(index, text.replace(change[0], change[1]));
            assertThatThrownBy(() -> verify(folder))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("golden.json: ")
                    .hasMessageContaining(change[2]);
        }
    }

    @Test
    void spreadsLayersOverTheModel() {
        ModelGeometry model = new ModelGeometry("m", 48, 8, 2, 128, 64, 0, 0, 0);
        long layer = model.layerBytes();
        assertThat(CheckpointVerification.spread(model, 0)).containsExactly(0);
        assertThat(CheckpointVerification.spread(model, 3 * layer + 1)).containsExactly(0, 23, 47);
        assertThat(CheckpointVerification.spread(model, 999 * layer))
                .hasSize(48)
                .doesNotHaveDuplicates();
    }

    private List<CheckpointVerification.Finding> verify(Path checkpoint) throws IOException {
        return verify(checkpoint, ActivationType.BF16);
    }

    private List<CheckpointVerification.Finding> verify(Path checkpoint, ActivationType type) throws IOException {
        List<CheckpointVerification.Finding> findings = new ArrayList<>();
        CheckpointVerification.java(checkpoint, type, 1, findings::add);
        return findings;
    }
}
