package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ratios worked out by hand. */
class RatioCheckTest {
    private static final String ALONG = """
            [[check]]
            name = "faster"
            where = { engine = "pool" }
            ratio = "decode_tok_per_s"
            reference = { basis = "reported", engine = "peer" }
            along = "hit_ratio"
            min = 1.2
            """;
    private static final String SINGLE = """
            [[check]]
            name = "faster"
            where = { engine = "pool" }
            ratio = "decode_tok_per_s"
            reference = { engine = "uva" }
            min = 5
            max = 6
            """;

    @TempDir
    private Path folder;

    // 10 ms a token where everything hits, 20 ms at 0.9, 60 at 0.5; so 15 at 0.95 and 40 at 0.7.
    private static final List<ResultRow> PEER = List.of(
            row("p0", "reported", "peer", 1.0, 100),
            row("p1", "reported", "peer", 0.9, 50),
            row("p5", "reported", "peer", 0.5, 50.0 / 3));

    @Test
    void betweenReferencesTimeIsInterpolatedNotSpeed() throws IOException {
        Check.Outcome outcome = apply(
                ALONG,
                PEER,
                row("kept", "measured", "pool", 0.95, 81), // 81 / 66.67 = 1.215
                row("broken", "measured", "pool", 0.7, 29), // 29 / 25 = 1.16
                row("at a point", "measured", "pool", 0.9, 61)); // 61 / 50
        assertThat(outcome.line())
                .isEqualTo("faster - FAILS, 3 rows: measured broken has 1.160 times 25.00 at hit_ratio 0.7000; kept by"
                        + " measured kept has 1.215 times 66.67 at hit_ratio 0.9500;"
                        + " measured at a point has 1.220 times 50.00 at hit_ratio 0.9000");
    }

    @Test
    void outsideOfTheReferencesNothingIsJudged() throws IOException {
        Check.Outcome outcome = apply(ALONG, PEER, row("low", "measured", "pool", 0.4, 1));
        assertThat(outcome.holds()).isTrue();
        assertThat(outcome.rows()).isZero();
        assertThat(outcome.notJudged())
                .containsExactly(
                        "measured low has no decode_tok_per_s with basis=reported,engine=peer to compare with");
    }

    @Test
    void theMediansOfRepetitionsAreCompared() throws IOException {
        List<ResultRow> uva = List.of(
                row("u", "measured", "uva", 0, 10),
                row("u", "measured", "uva", 0, 12),
                row("u", "measured", "uva", 0, 11),
                row("u", "measured", "uva", 0, 19)); // median 11.5
        List<ResultRow> three = List.of(
                row("a", "measured", "pool", 0, 64),
                row("a", "measured", "pool", 0, 60), // median 60: 5.217
                row("a", "measured", "pool", 0, 1));
        assertThat(apply(SINGLE, uva, three.toArray(ResultRow[]::new)).line())
                .isEqualTo("faster - holds, 3 rows: measured a has 5.217 times 11.50");
        assertThat(apply(SINGLE, uva, row("b", "measured", "pool", 0, 70)).violations()) // 6.087
                .containsExactly("measured b has 6.087 times 11.50");
    }

    @Test
    void withoutOneReferenceCellNothingIsJudged() throws IOException {
        ResultRow pool = row("a", "measured", "pool", 0, 60);
        assertThat(apply(SINGLE, List.of(), pool).rows()).isZero();
        List<ResultRow> two = List.of(row("u", "measured", "uva", 0, 10), row("v", "measured", "uva", 0, 10));
        assertThat(apply(SINGLE, two, pool).notJudged()).hasSize(1);
        // A reported figure is no reference unless it is asked for.
        assertThat(apply(SINGLE, List.of(row("u", "reported", "uva", 0, 10)), pool)
                        .rows())
                .isZero();
    }

    @Test
    void badChecksAreRefusedWithTheirKey() {
        refused("check[0].ratio is \"cell\"", ALONG.replace("ratio = \"decode_tok_per_s\"", "ratio = \"cell\""));
        refused("check[0].along is \"cell\"", ALONG.replace("along = \"hit_ratio\"", "along = \"cell\""));
        refused("check[0].min is missing", ALONG.replace("min = 1.2", ""));
        refused("check[0].reference is missing", ALONG.replaceAll("reference = .*", ""));
        refused("unknown key 'check[0].per'", ALONG + "per = [\"seed\"]\n");
    }

    private void refused(String message, String check) {
        assertThatThrownBy(() -> check(check))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    private Check.Outcome apply(String check, List<ResultRow> references, ResultRow... rows) throws IOException {
        List<ResultRow> all = new ArrayList<>(references);
        all.addAll(List.of(rows));
        return check(check).apply(all);
    }

    private Check check(String check) throws IOException {
        return Definitions.tiny(folder, check).checks().get(0);
    }

    private static ResultRow row(String cell, String basis, String engine, double hitRatio, double speed) {
        return ResultRow.builder()
                .put("cell", cell)
                .put("status", "ok")
                .put("basis", basis)
                .put("engine", engine)
                .put("hit_ratio", hitRatio)
                .put("decode_tok_per_s", speed)
                .build();
    }
}
