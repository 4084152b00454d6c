package org.expertpool.harness.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchemaDocumentTest {
    @Test
    void theDocumentHasEveryColumnInOrder() throws IOException {
        List<String> documented = Files.readAllLines(Path.of("../experiments/SCHEMA.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .toList();
        assertThat(documented)
                .containsExactlyElementsOf(ResultsSchema.COLUMNS.stream()
                        .map(column ->
                                "| `" + column.name() + "` | " + compared(column) + " | " + column.meaning() + " |")
                        .toList());
    }

    private static String compared(ResultColumn column) {
        return switch (column.kind()) {
            case LABEL -> "label";
            case EXACT -> "exact";
            case HIGHER_IS_BETTER -> "higher is better";
            case LOWER_IS_BETTER -> "lower is better";
        };
    }
}
