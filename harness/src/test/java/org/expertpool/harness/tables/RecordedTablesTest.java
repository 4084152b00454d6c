package org.expertpool.harness.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordedTablesTest {
    @TempDir
    private Path folder;

    private RecordedTables tables;

    @BeforeEach
    void setUp() throws IOException {
        tables = new RecordedTables(folder.resolve("page.md"));
        Files.createDirectory(folder.resolve("run"));
        Files.writeString(
                folder.resolve("run/results.csv"),
                ResultsCsv.header()
                        + line("a", 1, "258", "63.19")
                        + line("a", 2, "258", "64.19")
                        + line("a", 3, "258", "61")
                        + line("b", 1, "208", "50")
                        + line("c", 1, "64", "9"));
    }

    @Test
    void aTableHoldsTheMediansOfTheRowsThatMatch() throws IOException {
        String filled = tables.fill("""
                before
                <!-- table run columns=rows_per_layer=N,decode_tok_per_s=tokens_a_second where=rows_per_layer=208|258 -->
                | anything that stood here |
                <!-- end table -->
                after
                """);
        assertThat(filled).isEqualTo("""
                before
                <!-- table run columns=rows_per_layer=N,decode_tok_per_s=tokens_a_second where=rows_per_layer=208|258 -->
                |   N | tokens a second |
                |----:|----------------:|
                | 258 |           63.19 |
                | 208 |              50 |
                <!-- end table -->
                after
                """);
        assertThat(tables.fill(filled)).isEqualTo(filled);
    }

    @Test
    void runsFollowEachOtherAndShareNoCell() throws IOException {
        Files.createDirectory(folder.resolve("more"));
        Files.writeString(
                folder.resolve("more/results.csv"),
                ResultsCsv.header() + line("a", 1, "258", "70") + line("d", 1, "32", "8"));
        assertThat(tables.fill("<!-- table more+run columns=rows_per_layer=N,decode_tok_per_s=speed"
                        + " where=rows_per_layer=258|32 -->\n<!-- end table -->"))
                .isEqualTo("""
                        <!-- table more+run columns=rows_per_layer=N,decode_tok_per_s=speed where=rows_per_layer=258|32 -->
                        |   N | speed |
                        |----:|------:|
                        | 258 |    70 |
                        |  32 |     8 |
                        | 258 | 63.19 |
                        <!-- end table -->""");
    }

    @Test
    void aTableOfAnotherFileHoldsItsLines() throws IOException {
        Files.writeString(folder.resolve("layer.csv"), "engine,tokens,us\na pool,1,29.5512\nuva,1,580\na pool,8,\n");
        assertThat(tables.fill(
                        "<!-- table layer.csv columns=tokens,us=time where=engine=a_pool -->\n<!-- end table -->"))
                .isEqualTo("""
                        <!-- table layer.csv columns=tokens,us=time where=engine=a_pool -->
                        | tokens |  time |
                        |-------:|------:|
                        |      1 | 29.55 |
                        |      8 |       |
                        <!-- end table -->""");
        refused("<!-- table layer.csv columns=speed -->\n<!-- end table -->", "line 1: column 'speed'");
        refused("<!-- table layer.csv columns=us where=rows=1 -->\n<!-- end table -->", "line 1: column 'rows'");
        refused("<!-- table other.csv columns=us -->\n<!-- end table -->", "line 1: no file other.csv");
    }

    @Test
    void aPageWithoutTablesStaysAsItIs() throws IOException {
        assertThat(tables.fill("a\n\nb")).isEqualTo("a\n\nb");
    }

    @Test
    void whatIsWrongIsNamedWithItsLine() {
        refused("x\n<!-- table run where=seed=1 -->\n<!-- end table -->", "line 2: names no columns");
        refused("<!-- table run columns=speed -->\n<!-- end table -->", "line 1: column 'speed'");
        refused("<!-- table run columns=seed where=pace=1 -->\n<!-- end table -->", "line 1: column 'pace'");
        refused("<!-- table run columns=seed where=seed -->\n<!-- end table -->", "condition 'seed'");
        refused("<!-- table run columns=seed sorted -->\n<!-- end table -->", "'sorted'");
        refused("<!-- table run columns=seed where=seed=7 -->\n<!-- end table -->", "no row of run matches");
        refused("<!-- table away columns=seed -->\n<!-- end table -->", "results.csv: no such file");
        refused("<!-- end table -->", "line 1: ends a table that none began");
        refused("<!-- table run columns=cell -->\n", "line 1: begins a table that never ends");
        refused("<!-- table run columns=cell -->\n<!-- table run columns=cell -->", "line 2: begins a table within");
    }

    @Test
    void thePagesOfTheRepositoryAreAsTheirResultsSay() throws IOException {
        Path root = Path.of("..").toAbsolutePath().normalize();
        for (String page : List.of("README.md", "experiments/README.md")) {
            String text = Files.readString(root.resolve(page));
            assertThat(new RecordedTables(root.resolve(page)).fill(text))
                    .as(page)
                    .isEqualTo(text);
            assertThat(text).as(page).contains("<!-- table ");
        }
    }

    private void refused(String page, String message) {
        assertThatThrownBy(() -> tables.fill(page))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    private static String line(String cell, int repetition, String rows, String speed) {
        return ResultsCsv.line(ResultRow.builder()
                .put("schema", 1)
                .put("cell", cell)
                .put("repetition", repetition)
                .put("status", "ok")
                .put("basis", "modelled")
                .put("rows_per_layer", rows)
                .put("decode_tok_per_s", speed)
                .build());
    }
}
