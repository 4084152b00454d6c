package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ResultsTableTest {
    private static final String HEADER = "schema,experiment,cell,repetition,status,basis,engine,backend,device,model,"
            + "trace,rows_per_layer,policy,graph_mode,context,seed,decode_tok_per_s\n";
    private static final String ROW = "1,e,c,1,ok,modelled,pool,model,d,m,t,16,evict.lru,none,4096,1,20.5\n";

    @TempDir
    private Path dir;

    private ResultsTable read(String text) throws Exception {
        return ResultsTable.read(Files.writeString(dir.resolve("results.csv"), text));
    }

    static Stream<Arguments> badFiles() {
        return Stream.of(
                arguments(
                        "an empty file",
                        "",
                        "line 1: no column schema nor 15 others, expected the results.csv of a run"),
                arguments("a header alone", HEADER, "no rows after the header"),
                arguments("no basis column", HEADER.replace("basis,", ""), "line 1: no column basis, expected"),
                arguments("another table", "policy,scope\nlru,global\n", "no column schema nor 14 others"),
                arguments("a byte order mark", '\ufeff' + HEADER + ROW, "line 1: no column schema,"),
                arguments("a column twice", HEADER.replace("seed,", "seed,seed,") + ROW, "line 1: "),
                arguments("a short row", HEADER + ROW + "1,e,c,1,ok\n", "line 3: 5 fields, expected 17"),
                arguments("a long row", HEADER + ROW.replace("20.5", "20.5,1"), "line 2: 18 fields, expected 17"),
                arguments("schema 2", HEADER + "2" + ROW.substring(1), "line 2, column schema: '2', expected schema 1"),
                arguments("no schema", HEADER + ROW.substring(1), "line 2, column schema: '', expected schema 1"),
                arguments(
                        "a new status",
                        HEADER + ROW.replace("ok", "fine"),
                        "column status: 'fine', expected ok, failed"),
                arguments(
                        "a new basis",
                        HEADER + ROW.replace("modelled", "felt"),
                        "column basis: 'felt', expected measured"),
                arguments("a row cut inside quotes", HEADER + ROW + "1,e,\"c", "expected whole CSV rows"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badFiles")
    void refusesWithOneLineThatNamesThePlace(String what, String text, String expected) {
        assertThatThrownBy(() -> read(text))
                .as(what)
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining(dir.resolve("results.csv").toString())
                .hasMessageContaining(expected)
                .message()
                .doesNotContain("\n");
    }

    @Test
    void refusesAMissingFile() {
        assertThatThrownBy(() -> ResultsTable.read(dir.resolve("results.csv")))
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining("no such file");
    }

    @Test
    void refusesBytesThatAreNotText() throws Exception {
        byte[] bytes = (HEADER + ROW.replace("evict", "\u00e9vict")).getBytes(StandardCharsets.ISO_8859_1);
        Path file = Files.write(dir.resolve("results.csv"), bytes);
        assertThatThrownBy(() -> ResultsTable.read(file))
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining("not UTF-8");
    }

    @Test
    void readsQuotedCellsAndEmptyOnes() throws Exception {
        ResultsTable table =
                read(HEADER + "1,e,\"policy=a(1,2),rows=\"\"3\"\"\",1,ok,modelled,,,,,,16,lru,,,,\n" + ROW);
        ResultsRow row = table.rows().get(0);
        assertThat(row.text("cell")).isEqualTo("policy=a(1,2),rows=\"3\"");
        assertThat(row.number("decode_tok_per_s")).isEmpty();
        assertThat(row.number("no_such_column")).isEmpty();
        assertThat(table.rows().get(1).number("decode_tok_per_s")).hasValue(20.5);
    }

    @Test
    void namesTheLineOfANumberThatIsNone() throws Exception {
        for (String bad : new String[] {"fast", "NaN", "Infinity", "1,5"}) {
            String cell = bad.contains(",") ? '"' + bad + '"' : bad;
            ResultsRow row =
                    read(HEADER + ROW + ROW.replace("20.5", cell)).rows().get(1);
            assertThatThrownBy(() -> row.number("decode_tok_per_s"))
                    .isInstanceOf(BadResultsException.class)
                    .hasMessageContaining("line 3, column decode_tok_per_s: '" + bad + "', expected a finite");
        }
    }

    @Test
    void separatesOwnRowsReportedOnesAndThoseLeftOut() throws Exception {
        ResultsTable table = read(HEADER
                + ROW
                + ROW.replace("ok", "failed")
                + ROW.replace("ok", "skipped")
                + ROW.replace("ok", "failed")
                + ROW.replace("modelled", "reported")
                + ROW.replace("modelled", "measured"));
        assertThat(table.own()).extracting(ResultsRow::line).containsExactly(2L, 7L);
        assertThat(table.reported()).extracting(ResultsRow::line).containsExactly(6L);
        assertThat(table.leftOut()).containsOnly(java.util.Map.entry("failed", 2L), java.util.Map.entry("skipped", 1L));
    }
}
