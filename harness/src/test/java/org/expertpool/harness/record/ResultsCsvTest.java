package org.expertpool.harness.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResultsCsvTest {
    /** The contract's first sixteen columns, typed over from it. */
    private static final String CONTRACT = "schema,experiment,cell,repetition,status,basis,engine,backend,device,model,"
            + "trace,rows_per_layer,policy,graph_mode,context,seed";

    private static final List<String> CONTRACT_METRICS = List.of(
            "decode_tok_per_s",
            "prefill_tok_per_s",
            "ttft_s",
            "step_p50_us",
            "step_p99_us",
            "hit_ratio",
            "promoted_per_forward",
            "staged_per_forward",
            "h2d_bytes_per_forward",
            "h2d_gb_per_s",
            "bank_bytes",
            "free_bytes_min",
            "reason");

    @TempDir
    private Path folder;

    @Test
    void headerStartsAsTheContractSays() {
        assertThat(ResultsCsv.header()).startsWith(CONTRACT + ",reason,").endsWith("\n");
        assertThat(ResultsSchema.names()).containsAll(CONTRACT_METRICS).doesNotHaveDuplicates();
    }

    @Test
    void rowsSurviveTheRoundTrip() throws IOException {
        ResultRow quoted = row("policy=a(1,2),rows=3")
                .put("reason", "said \"no\", twice")
                .put("note", "first\nsecond")
                .put("decode_tok_per_s", 63.19)
                .put("bank_bytes", 34_240_000_000L)
                .build();
        ResultRow bare = row("rows=4").put("hit_ratio", Double.NaN).build();
        Path file = folder.resolve("results.csv");
        try (ResultsFile results = ResultsFile.create(file)) {
            results.append(quoted);
            results.append(bare);
        }
        assertThat(ResultsCsv.read(file)).containsExactly(quoted, bare);
        assertThat(bare.get("hit_ratio")).isEmpty();
        assertThat(quoted.text("note")).isEqualTo("first second");
        assertThat(Files.readString(file)).doesNotContain("\r").hasLineCount(3);
    }

    @ParameterizedTest
    @CsvSource({
        "63.19,63.19",
        "1e-7,0.0000001",
        "12345678901234,12345678900000",
        "0,0",
        "-0.0,0",
        "100,100",
        "0.1,0.1",
    })
    void numbersArePlainDecimals(double value, String text) {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            assertThat(ResultRow.format(value)).isEqualTo(text);
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void emptyIsNoValueAndNotZero() throws IOException {
        String line = ResultsCsv.line(row("x=1").build());
        assertThat(line).contains(",,").doesNotContain(",0,");
        List<ResultRow> read = parse(ResultsCsv.header() + line);
        assertThat(read.get(0).number("hit_ratio")).isEmpty();
    }

    @Test
    void readersTakeColumnsOfLaterVersions() throws IOException {
        List<ResultRow> read = parse(CONTRACT + ",invented_us\n1,e,c,1,ok,measured,pool,cuda,,,,,,,,,5.5\n");
        assertThat(read.get(0).number("invented_us")).hasValue(5.5);
    }

    @Test
    void writersRefuseColumnsThatTheSchemaLacks() {
        assertThatThrownBy(
                        () -> ResultsCsv.line(row("x=1").put("invented_us", 1).build()))
                .hasMessageContaining("invented_us");
    }

    @Test
    void badFilesGiveOneErrorWithTheLine() {
        String good = "1,e,c,1,ok,measured,pool,cuda,,,,,,,,\n";
        refused("", "empty, expected a header line");
        refused("a,b\n", "line 1: header starts a,b, expected it to start schema,experiment");
        refused(CONTRACT + ",a,a\n" + good, "line 1: header names a twice");
        refused(CONTRACT + ",\n" + good, "line 1: header has an empty column name");
        refused(CONTRACT + "\n" + good + "1,e,c\n", "line 3: has 3 fields, expected 16");
        refused(CONTRACT + "\n" + good + good.strip() + ",7\n", "line 3: has 17 fields, expected 16");
        refused(CONTRACT + "\n" + good.replaceFirst("1", "2"), "line 2: schema is 2, expected 1");
        refused(CONTRACT + "\n1,\"e,c\n", "not readable as CSV");
        refused(
                CONTRACT + "\n" + good.replace("ok", "fine"),
                "line 2: status is 'fine', expected one of ok, failed, refused, skipped");
        refused(
                CONTRACT + "\n" + good.replace("measured", "dreamt"),
                "line 2: basis is 'dreamt', expected one of measured, modelled, reported");
        for (String repetition : List.of("x", "", "0", "-1", "1.5", "9999999999")) {
            refused(
                    CONTRACT + "\n" + good.replace(",1,", "," + repetition + ","),
                    "line 2: repetition is '" + repetition + "', expected a whole number from 1");
        }
    }

    @Test
    void aFileThatIsNotThereIsBadInput() {
        assertThatThrownBy(() -> ResultsCsv.readDirectory(folder))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("no such file");
    }

    private static void refused(String text, String message) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    private static List<ResultRow> parse(String text) throws IOException {
        return ResultsCsv.parse("results.csv", text.getBytes(StandardCharsets.UTF_8));
    }

    private static ResultRow.Builder row(String cell) {
        return ResultRow.builder()
                .put("schema", ResultsSchema.VERSION)
                .put("experiment", "test")
                .put("cell", cell)
                .put("repetition", 1)
                .put("status", "ok")
                .put("basis", "modelled");
    }
}
