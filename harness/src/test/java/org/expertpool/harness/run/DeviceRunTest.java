package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.cli.Main;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsCsv;
import org.expertpool.pool.cuda.EmulatedDriver;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code run --backend cuda} on the emulated driver: prompts in chunks, by every way of the partition path. */
class DeviceRunTest {
    private static final long TINY_ROW_BYTES = 3 * 128 * 64 * 9 / 16; // packed to half a byte, and a scale for every 16

    private static final String DEFINITION = """
            name = "prompts"
            question = "Are outputs equal, and counts as simulated?"
            expectation = "Yes."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 4

            [window.warm]
            initial = "first-n"

            [axes]
            seed = 1
            window = "warm"
            graph_mode = "full-decode"
            input_tokens = 7
            chunk_tokens = 4

            [[matrix]]
            engine = "resident"

            [[matrix]]
            policy = "lru"
            rows = 6
            memory = "48GiB"
            partition = "host-view"

            [[matrix]]
            policy = "lru"
            rows = 6
            partition = "streamed"
            prefill_promote = [0, 16]

            # A graph can't hold rows that the host places.
            [[matrix]]
            policy = "lru"
            rows = 6
            partition = "streamed"
            graph_mode = "full"

            # The KV cache, dense weights and the router, by stand-ins.
            [[matrix]]
            policy = "lru"
            rows = 6
            rest = "full"
            context = 5

            [[matrix]]
            policy = "lru"
            rows = 6
            rest = "full"
            graph_mode = "piecewise"
            context = 5

            # How much of the cache is read must be said.
            [[matrix]]
            policy = "lru"
            rows = 6
            rest = "full"
            graph_mode = "none"

            [[matrix]]
            policy = "lru"
            rows = 6
            device = "h200"
            memory = "48GiB"

            [[check]]
            name = "equal"
            where = { basis = "measured" }
            equal = "output_sha256"
            reference = { engine = "resident" }

            [details]
            where = { engine = "pool" }
            stretch_forwards = 3
            """;

    private static final String ENGINES = """
            name = "engines"
            question = "Are outputs equal, and counts as simulated?"
            expectation = "Yes."
            model = "tiny"

            [trace]
            preset = "tiny"
            forwards = 8

            [window.warm]
            initial = "first-n"
            score_from = 2

            [axes]
            seed = 1
            window = "warm"
            graph_mode = "full-decode"

            [[matrix]]
            engine = "resident"

            [[matrix]]
            engine = "uva"
            memory = "1MiB"

            [[matrix]]
            engine = "host-planned"
            policy = "lfru"
            scope = ["global", "layer"]
            rows = 6
            graph_mode = "none"

            [[matrix]]
            engine = "host-planned"
            policy = "lru"
            rows = 6

            [[matrix]]
            policy = "lru"
            rows = 6
            ple = ["off", "eager", "deferred"]

            [[matrix]]
            policy = "lru"
            rows = 6
            ple = "deferred"
            graph_mode = "none"

            [[matrix]]
            engine = "heat"
            policy = "heat.exchange(0.9,2,1,3)"
            rows = 6

            [[matrix]]
            engine = "stream"

            [[matrix]]
            engine = "stream-hits"
            rows = [10, 15]

            # Without a router's place between the layers.
            [[matrix]]
            engine = "resident"
            rest = "routed-ahead"

            [[matrix]]
            policy = "lru"
            rows = 6
            rest = "routed-ahead"

            [[matrix]]
            policy = "lru"
            rows = 6
            rest = "routed-ahead"
            ple = "eager"

            [[matrix]]
            engine = "stream"
            rest = "routed-ahead"

            [[matrix]]
            policy = "lru"
            rows = 6
            rest = "routed-ahead"
            streams = 2

            [[check]]
            name = "equal"
            where = { basis = "measured" }
            equal = "output_sha256"
            reference = { engine = "resident" }
            """;

    @TempDir
    Path folder;

    @BeforeAll
    static void compileDriver() {
        EmulatedDriver.require();
    }

    @Test
    void promptsByEveryWay() throws Exception {
        Path definition = Files.writeString(folder.resolve("prompts.toml"), DEFINITION);
        Path out = folder.resolve("out");
        List<String> lines = EmulatedDriver.run(
                Main.class,
                List.of("run", definition.toString(), "--backend", "cuda", "--out", out.toString()),
                Map.of());
        assertThat(lines).contains("- Check: equal - holds, 6 rows", "not freed: 0");

        List<ResultRow> rows = ResultsCsv.read(out.resolve("results.csv"));
        List<String> measured = new ArrayList<>();
        for (ResultRow row : rows) {
            if (row.isOk() && row.text("basis").equals("measured")) {
                measured.add(row.text("engine") + " " + row.text("partition") + " " + row.text("prefill_promote"));
                assertThat(row.number("ttft_s").orElseThrow()).isPositive();
                assertThat(row.number("prefill_tok_per_s").orElseThrow()
                                * row.number("ttft_s").orElseThrow())
                        .isCloseTo(7, within(1e-3));
            }
        }
        assertThat(measured)
                .containsExactly(
                        "resident  ", "pool host-view ", "pool streamed 0", "pool streamed 16", "pool  ", "pool  ");
        assertFillsAreNotDecodes(rows.stream()
                .filter(row -> row.text("prefill_promote").equals("16"))
                .findFirst()
                .orElseThrow());
        assertThat(rows.stream()
                        .filter(row -> row.text("status").equals("refused"))
                        .map(row -> row.text("reason")))
                .satisfiesExactly(
                        full -> assertThat(full).startsWith("graph mode full: rows streamed by the copy engine"),
                        silent -> assertThat(silent)
                                .isEqualTo("rest is full, expected axes.context beside it:"
                                        + " the tokens of KV cache that decode reads"));
        assertThat(rows.stream().map(row -> row.text("note")))
                .contains("experts, 65536 dense bytes, 352 bytes a token of context and a router a layer");
        assertThat(rows.stream().filter(row -> row.text("basis").equals("modelled")))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.text("backend")).isEqualTo("model");
                    assertThat(row.text("device")).isEqualTo("h200");
                    assertThat(row.number("decode_tok_per_s").orElseThrow()).isPositive();
                });
        assertThat(Files.readAllLines(out.resolve("details/decode_times.csv")))
                .hasSize(1 + 5 * 2) // five pools, stretches of three forwards and of one
                .contains("\"engine=pool,graph_mode=full-decode,partition=host-view,memory=48GiB\""
                        + ",3,1,0.250000,0.250000,0.250000,"
                        + rows.get(0).text("output_sha256")); // of all, as the last forward is a decode forward

        JsonNode speed = new ObjectMapper()
                .readTree(out.resolve("environment.json").toFile())
                .path("device_speed");
        for (String when : List.of("before", "after")) {
            assertThat(speed.path(when).path("host_to_device_gb_per_s").asDouble())
                    .isPositive();
            assertThat(speed.path(when).path("kernel_over_link_gb_per_s").asDouble())
                    .isPositive();
        }
        assertThat(rows.get(1).text("context_capacity_tokens"))
                .isEqualTo(rows.get(rows.size() - 1).text("context_capacity_tokens"));
    }

    /** What the prompt left in the pool crossed the link for the prompt: no row of decode's, however many there are. */
    private static void assertFillsAreNotDecodes(ResultRow row) {
        double forwards = row.number("forwards").orElseThrow();
        double misses = row.number("misses").orElseThrow();
        assertThat(row.number("exchanged").orElseThrow()).isPositive();
        assertThat(row.number("h2d_bytes_per_forward").orElseThrow())
                .isCloseTo(misses * TINY_ROW_BYTES / forwards, within(.1));
        assertThat(row.number("h2d_bytes_per_token").orElseThrow())
                .isCloseTo(misses * TINY_ROW_BYTES / forwards, within(.1));
        assertThat(row.number("inserts_per_100").orElseThrow())
                .isCloseTo(
                        100
                                * row.number("promoted").orElseThrow()
                                / row.number("selections").orElseThrow(),
                        within(1e-3));
    }

    /** Rows moved are held to the simulation by the run itself: a cell where they differ fails. */
    @Test
    void everyEngine() throws Exception {
        Path definition = Files.writeString(folder.resolve("engines.toml"), ENGINES);
        Path out = folder.resolve("out");
        List<String> lines = EmulatedDriver.run(
                Main.class,
                List.of("run", definition.toString(), "--backend", "cuda", "--out", out.toString()),
                Map.of());
        assertThat(lines).contains("- Check: equal - holds, 13 rows", "not freed: 0");

        List<ResultRow> rows = ResultsCsv.read(out.resolve("results.csv"));
        assertThat(rows.stream().filter(ResultRow::isOk).map(row -> row.text("engine")))
                .containsExactly(
                        "resident",
                        "uva",
                        "host-planned",
                        "host-planned",
                        "pool",
                        "pool",
                        "pool",
                        "pool",
                        "heat",
                        "stream",
                        "stream-hits",
                        "resident",
                        "pool");
        assertThat(rows.stream()
                        .filter(ResultRow::isOk)
                        .map(row -> row.text("note"))
                        .filter("experts alone, routed ahead"::equals))
                .hasSize(2);
        assertThat(rows.stream()
                        .filter(row -> row.text("engine").equals("pool"))
                        .map(row -> row.text("ple")))
                .containsExactly("off", "eager", "deferred", "deferred", "", "eager", "");
        assertThat(rows.stream().filter(row -> !row.isOk()).map(row -> row.text("reason")))
                .containsExactly(
                        "graph_mode is full-decode, expected none or piecewise: the host decides between a layer's"
                                + " router and its experts",
                        "rows is 10, expected more than two layers' experts take of the whole",
                        "ple is eager, expected off beside rest = \"routed-ahead\"",
                        "engine is stream, expected resident, uva or pool beside rest = \"routed-ahead\": the others"
                                + " read routing between the layers",
                        "streams is 2, expected at most decode_tokens, 1, beside rest = \"routed-ahead\": wider calls are"
                                + " partitioned");
        ResultRow heat = rows.stream()
                .filter(row -> row.text("engine").equals("heat"))
                .findFirst()
                .orElseThrow();
        assertThat(heat.number("exchanged").orElseThrow()).isPositive();
        assertThat(heat.number("staged").orElseThrow())
                .isEqualTo(heat.number("misses").orElseThrow());
    }
}
