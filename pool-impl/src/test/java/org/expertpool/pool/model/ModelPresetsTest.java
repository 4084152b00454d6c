package org.expertpool.pool.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

class ModelPresetsTest {
    private static final String VALID = """
            layers = 2
            experts = 8
            topK = 2
            hidden = 64
            expertWidth = 64
            kvBytesPerToken = 1
            denseBytesPerLayer = 0
            fixedBytes = 0
            """;

    @ParameterizedTest
    @CsvSource({
        "qwen3.8-flash-next, 48, 512, 10, 2560, 640, 2764800",
        "qwen3-next-80b-a3b, 48, 512, 10, 2048, 512, 1769472",
        "qwen3-30b-a3b, 48, 128, 8, 2048, 768, 2654208",
        "gpt-oss-20b, 24, 32, 4, 2880, 2880, 13996800",
        "tiny-moe, 8, 128, 8, 256, 64, 27648",
    })
    void presetsHaveThePublishedShapes(
            String name, int layers, int experts, int topK, int hidden, int width, long row) {
        ModelGeometry model = ModelPresets.load(name);
        assertThat(model.name()).isEqualTo(name);
        assertThat(model.layers()).isEqualTo(layers);
        assertThat(model.experts()).isEqualTo(experts);
        assertThat(model.topK()).isEqualTo(topK);
        assertThat(model.hidden()).isEqualTo(hidden);
        assertThat(model.expertWidth()).isEqualTo(width);
        assertThat(model.rowBytes()).isEqualTo(row);
    }

    @ParameterizedTest
    @FieldSource("org.expertpool.pool.model.ModelPresets#NAMES")
    void everyListedPresetLoads(String name) {
        assertThat(ModelPresets.load(name).allExpertBytes()).isPositive();
    }

    @Test
    void flashNextTotalsAreThoseOfTheProposal() {
        ModelGeometry model = ModelPresets.load("qwen3.8-flash-next");
        assertThat(model.layerBytes()).isEqualTo(1350L << 20);
        assertThat(gib(model.allExpertBytes())).isCloseTo(63.3, within(0.05));
        assertThat(gib(262_144 * model.kvBytesPerToken())).isCloseTo(6.55, within(0.0005));
    }

    @Test
    void readsAFileOfTheSameFields(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("mine.toml");
        Files.writeString(file, VALID);
        assertThat(ModelPresets.load(file.toString())).isEqualTo(new ModelGeometry("mine", 2, 8, 2, 64, 64, 1, 0, 0));
    }

    @ParameterizedTest
    @CsvSource({
        "'experts = 8', 'experts = 8.5', 'experts is 8.5, expected a 64-bit whole number'",
        "'experts = 8', 'experts = \"8\"', 'experts is \"8\"'",
        "'experts = 8', 'experts = 4294967304', 'experts is 4294967304, expected at most'",
        "'experts = 8', '', 'field experts is missing'",
        "'experts = 8', 'experts = 1', 'topK is 2, expected at most experts = 1'",
        "'experts = 8', 'expert = 8', 'field expert is unknown'",
        "'experts = 8', 'experts = ', ':2: not TOML'",
        "'fixedBytes = 0', 'fixedBytes = -1', 'fixedBytes is -1'",
        "'hidden = 64', 'hidden = 65', 'hidden is 65, expected a multiple of 64'",
        "'experts = 8', 'experts = 2000000000', 'layers * experts is 4000000000, expected at most 2147483647'",
    })
    void namesWhatIsWrongInAFile(String was, String becomes, String message, @TempDir Path folder) throws IOException {
        Path file = folder.resolve("bad.toml");
        Files.writeString(file, VALID.replace(was, becomes));
        assertThatThrownBy(() -> ModelPresets.load(file.toString()))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("bad");
    }

    /** Products of fields that pass one by one; no total may wrap around. */
    @Test
    void totalsStayIn64Bits() {
        assertThat(new ModelGeometry("wide", 1, 1 << 20, 1, 1 << 20, 1 << 20, 0, 0, 0).allExpertBytes())
                .isEqualTo(27L << 56);
        assertThatThrownBy(() -> new ModelGeometry("wider", 1, 1 << 23, 1, 1 << 20, 1 << 20, 0, 0, 0))
                .isInstanceOf(BadInputException.class)
                .hasMessage("model wider: 8388608 rows of 1855425871872 bytes, expected at most 9223372036854775807"
                        + " bytes in all");
    }

    @Test
    void unknownNameListsThePresets() {
        assertThatThrownBy(() -> ModelPresets.load("qwen4"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("model qwen4")
                .hasMessageContaining("qwen3.8-flash-next, qwen3-next-80b-a3b, qwen3-30b-a3b, gpt-oss-20b");
        assertThatThrownBy(() -> ModelPresets.load("no/such.toml"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("no/such.toml: cannot be read");
    }

    private static double gib(long bytes) {
        return bytes / 0x1p30;
    }
}
