package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.harness.record.ResultRow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CommittedDefinitionsTest {
    private static final Path EXPERIMENTS = Path.of("../experiments");

    static Stream<Path> definitions() throws IOException {
        try (Stream<Path> files = Files.list(EXPERIMENTS.resolve("definitions"))) {
            return files.sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("definitions")
    void isReadableAndNamedAsItsFile(Path file) throws IOException {
        Definition definition = DefinitionReader.read(file, List.of());
        assertThat(file.getFileName()).hasToString(definition.name() + ".toml");
        List<ResultRow> reported =
                ReportedFigures.select(EXPERIMENTS.resolve("reported.csv"), definition.name(), definition.reported());
        assertThat(reported).hasSameSizeAs(definition.reported());
        assertThat(reported).allSatisfy(row -> assertThat(row.get("source")).isPresent());
    }

    @Test
    void theMainJobCoversTheSeedsTwoPointsInEveryGraphMode() throws IOException {
        Definition main = DefinitionReader.read(EXPERIMENTS.resolve("definitions/n258-vs-n208.toml"), List.of());
        for (int rows : new int[] {208, 258}) {
            assertThat(main.cells().stream()
                            .filter(cell -> cell.rows() == rows && cell.policy().equals("evict.lru"))
                            .filter(cell -> cell.window().equals("warm"))
                            .map(cell -> cell.setting(Axis.GRAPH_MODE).orElseThrow()))
                    .containsExactly("none", "piecewise", "full-decode", "full");
        }
        assertThat(main.cells().stream().mapToInt(Cell::rows).min()).hasValue(16);
        assertThat(main.cells().stream().mapToInt(Cell::rows).max()).hasValue(448);
        assertThat(main.markedRows()).containsExactly(208, 258);
    }
}
