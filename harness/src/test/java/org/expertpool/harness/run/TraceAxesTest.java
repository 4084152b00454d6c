package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Axes that shape the trace of a cell. */
class TraceAxesTest {
    private static final String DEFINITION = """
            name = "shaped"
            question = "Which forwards?"
            expectation = "Those asked for."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 90

            [window.warm]
            initial = "first-n"

            [axes]
            window = "warm"
            policy = "lru"
            rows = 9
            AXES
            """;

    @TempDir
    Path folder;

    private List<Cell> cells(String axes) throws IOException {
        return Definitions.read(folder, DEFINITION.replace("AXES", axes)).cells();
    }

    private RoutingTrace open(Cell cell) throws IOException {
        TraceSpec spec =
                Definitions.read(folder, DEFINITION.replace("AXES", "")).trace();
        try (TraceLibrary traces =
                new TraceLibrary(spec, RepositoryFiles.find(Path.of("").toAbsolutePath()))) {
            RoutingTrace trace = traces.open(cell);
            assertThat(traces.open(cell)).isSameAs(trace);
            return trace; // on the heap: closing it changes nothing
        }
    }

    @Test
    void everyForwardHasAllStreams() throws IOException {
        for (Cell cell : cells("streams = [1, 2, 5]")) {
            RoutingTrace trace = open(cell);
            assertThat(trace.forwards()).isEqualTo(90);
            ForwardCursor cursor = trace.cursor();
            while (cursor.next()) {
                assertThat(cursor.tokens()).isEqualTo(cell.streams().orElseThrow());
                assertThat(cursor.isPrefill()).isFalse();
            }
        }
    }

    @Test
    void aPromptComesInChunksBeforeTheDecodedForwards() throws IOException {
        List<Cell> cells = cells("input_tokens = 100\nchunk_tokens = [16, 64]");
        List<List<Integer>> widths = new ArrayList<>();
        for (Cell cell : cells) {
            RoutingTrace trace = open(cell);
            ForwardCursor cursor = trace.cursor();
            ForwardCursor plain = SyntheticTraces.preset("tiny", 190, 1).cursor();
            List<Integer> prefill = new ArrayList<>();
            long decoded = 0;
            while (cursor.next()) {
                prefill.addAll(cursor.isPrefill() ? List.of(cursor.tokens()) : List.of());
                decoded += cursor.isPrefill() ? 0 : 1;
                int[] ids = new int[4 * cursor.tokens()];
                cursor.ids(2, ids);
                for (int token = 0; token < cursor.tokens(); token++) {
                    int[] expected = new int[4];
                    plain.next();
                    plain.ids(2, expected);
                    assertThat(List.of(ids[4 * token], ids[4 * token + 3])).containsExactly(expected[0], expected[3]);
                }
            }
            assertThat(plain.next()).isFalse();
            assertThat(decoded).isEqualTo(90);
            widths.add(prefill);
        }
        assertThat(widths).containsExactly(List.of(16, 16, 16, 16, 16, 16, 4), List.of(64, 36));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            streams = 65 | axes.streams is 65, expected a whole number from 1 to 64
            chunk_tokens = 64 | axes.chunk_tokens is set, expected axes.input_tokens beside it
            input_tokens = 0 | axes.input_tokens is 0, expected a whole number from 1 to 16777216
            partition = "copied" | axes.partition is 'copied', expected one of host-view, streamed
            prefill_promote = [0, 1] | axes.prefill_promote is set, expected axes.partition = "streamed" beside it
            """)
    void badAxesNameFileAndKey(String axis, String message) {
        assertThatThrownBy(() -> cells(axis))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    @Test
    void oneAxisShapesATrace() {
        assertThatThrownBy(() -> cells("streams = 2\ninput_tokens = 10"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("axes.input_tokens is set, expected no axes.streams beside it");
        assertThatThrownBy(() -> Definitions.read(
                        folder, DEFINITION.replace("AXES", "streams = 2").replace("= 90", "= 90\nprefill_tokens = 8")))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("expected trace.preset without prefill_tokens and streams beside it");
    }
}
