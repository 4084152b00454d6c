package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelBackendTest {
    private static final long ROW_BYTES = 2_764_800;

    @TempDir
    private Path folder;

    @Test
    void countsBytesAndSpeedAgreeWithEachOther() throws IOException {
        Definition definition = Definitions.read(folder, Definitions.SMALL);
        ResultRow row = measure(definition, "window=warm,policy=evict.lru,rows=208,graph_mode=full-decode");
        assertThat(number(row, "forwards")).isEqualTo(30);
        assertThat(number(row, "selections")).isEqualTo(30 * 48 * 10);
        assertThat(number(row, "hits") + number(row, "misses")).isEqualTo(number(row, "selections"));
        assertThat(number(row, "promoted") + number(row, "staged")).isEqualTo(number(row, "misses"));
        assertThat(number(row, "misses")).isPositive();
        assertThat(number(row, "hit_ratio")).isCloseTo(number(row, "hits") / number(row, "selections"), within(1e-9));
        double bytes = number(row, "misses") * ROW_BYTES / 30;
        assertThat(number(row, "h2d_bytes_per_forward")).isCloseTo(bytes, within(1.0));
        double milliseconds = number(row, "decode_ms_per_token");
        assertThat(number(row, "decode_tok_per_s")).isCloseTo(1000 / milliseconds, within(1e-6));
        assertThat(number(row, "h2d_gb_per_s")).isCloseTo(bytes / 1e9 / (milliseconds / 1e3), within(1e-6));
        assertThat(number(row, "bank_bytes")).isEqualTo((48 * 208 + 10) * (double) ROW_BYTES);
        assertThat(row.text("fits")).isEqualTo("true");
        assertThat(number(row, "step_p50_us")).isLessThanOrEqualTo(number(row, "step_p99_us"));
    }

    @Test
    void aBankThatDoesNotFitHasNoContextAndNoFreeBytes() throws IOException {
        Definition definition = Definitions.read(folder, Definitions.SMALL);
        ResultRow row = measure(definition, "window=warm,policy=evict.lru,rows=448,graph_mode=none");
        assertThat(row.text("fits")).isEqualTo("false");
        assertThat(row.get("context_capacity_tokens")).isEmpty();
        assertThat(row.get("free_bytes_min")).isEmpty();
        assertThat(row.get("decode_tok_per_s")).isPresent();
    }

    @Test
    void withoutAGraphModeThereIsNoTime() throws IOException {
        Definition definition = Definitions.read(folder, Definitions.SMALL);
        ResultRow row = measure(definition, "window=cold,policy=static.profile,rows=16");
        assertThat(row.get("decode_tok_per_s")).isEmpty();
        assertThat(row.get("hit_ratio")).isPresent();
        assertThat(row.text("policy")).isEqualTo("static.profile");
    }

    @Test
    void guardsAndShapesThatDoNotMatchAreRefused() throws IOException {
        Definition few = Definitions.read(folder, Definitions.SMALL, "rows=9");
        assertThatThrownBy(() -> measure(few, few.cells().get(0).id())).isInstanceOf(BadInputException.class);
        Definition other = Definitions.read(folder, Definitions.SMALL, "model=qwen3-30b-a3b");
        assertThatThrownBy(() -> measure(other, other.cells().get(0).id()))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("expected 48 x 128, 8 as in model qwen3-30b-a3b");
        Definition wide = Definitions.read(folder, Definitions.SMALL, "decode_tokens=2");
        assertThatThrownBy(() -> measure(wide, wide.cells().get(0).id()))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("one token a forward");
    }

    @Test
    void aTraceFileIsSkippedWhereAbsentAndRefusedWhereDifferent() throws IOException {
        String file = Definitions.SMALL
                .replace("preset = \"qwen3.8-flash-next-prose\"", "file = \"trace.csv\"")
                .replace("forwards = 40", "sha256 = \"" + "0".repeat(64) + "\"");
        Definition definition = Definitions.read(folder, file);
        assertThatThrownBy(() -> measure(definition, definition.cells().get(0).id()))
                .isInstanceOf(SkippedException.class)
                .hasMessage("trace file trace.csv is not here");
        RepositoryFiles files = new RepositoryFiles(folder, Optional.empty());
        TraceLibrary.verify(definition.trace(), files);
        Files.writeString(folder.resolve("trace.csv"), "changed");
        assertThatThrownBy(() -> TraceLibrary.verify(definition.trace(), files))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("trace trace.csv: SHA-256 is ");
    }

    @Test
    void sharedDataIsFoundWhereTheSystemPropertySays() {
        RepositoryFiles moved = new RepositoryFiles(Path.of("/repository"), Optional.of(Path.of("/elsewhere")));
        assertThat(moved.resolve("../shared/data/x.csv")).isEqualTo(Path.of("/elsewhere/data/x.csv"));
        assertThat(moved.resolve("data/x.csv")).isEqualTo(Path.of("/repository/data/x.csv"));
        RepositoryFiles beside = new RepositoryFiles(Path.of("/home/repository"), Optional.empty());
        assertThat(beside.resolve("../shared/x.csv")).isEqualTo(Path.of("/home/shared/x.csv"));
    }

    private ResultRow measure(Definition definition, String cell) throws IOException {
        TraceLibrary traces = new TraceLibrary(definition.trace(), new RepositoryFiles(folder, Optional.empty()));
        try (ModelBackend backend = new ModelBackend(definition, traces)) {
            ResultRow.Builder row = ResultRow.builder();
            backend.measure(definition.cell(cell).orElseThrow(), 1, row);
            return row.build();
        }
    }

    private static double number(ResultRow row, String column) {
        return row.number(column).orElseThrow();
    }
}
