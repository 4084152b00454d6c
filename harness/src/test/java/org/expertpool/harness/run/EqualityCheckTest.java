package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EqualityCheckTest {
    private static final EqualityCheck CHECK = new EqualityCheck(
            "same",
            new RowSelection(Map.of("basis", "measured")),
            "output_sha256",
            new RowSelection(Map.of("engine", "resident")),
            List.of("seed"));

    @TempDir
    private Path folder;

    @Test
    void rowsAreComparedWithTheReferenceOfTheirGroupAlone() {
        Check.Outcome outcome = CHECK.apply(List.of(
                row("r1", "resident", "1", "aa"),
                row("p1", "pool", "1", "aa"),
                row("r2", "resident", "2", "bb"),
                row("p2", "pool", "2", "bb")));
        assertThat(outcome.holds()).isTrue();
        assertThat(outcome.line()).isEqualTo("same - holds, 4 rows");
    }

    @Test
    void anotherValueAndAMissingOneBreakIt() {
        Check.Outcome outcome = CHECK.apply(List.of(
                row("p1", "pool", "1", "ab"),
                row("r1", "resident", "1", "aa"),
                row("p2", "pool", "1", ""),
                row("p3", "pool", "1", "aa"),
                row("r2", "resident", "1", "cc")));
        assertThat(outcome.violations())
                .containsExactly(
                        "p1 has another output_sha256 than r1",
                        "p2 has another output_sha256 than r1",
                        "r2 has another output_sha256 than r1");
        assertThat(CHECK.apply(List.of(row("r", "resident", "1", ""))).holds()).isFalse();
    }

    @Test
    void aGroupWithoutItsReferenceIsNamedAsNotJudged() {
        Check.Outcome outcome = CHECK.apply(List.of(row("p1", "pool", "1", "aa"), row("p2", "pool", "1", "bb")));
        assertThat(outcome.rows()).isZero();
        assertThat(outcome.line())
                .isEqualTo("same - not applicable (no row selected);"
                        + " not judged: seed=1 has no row with engine=resident to compare with");
        ResultRow modelled =
                row("p", "pool", "1", "").toBuilder().put("basis", "modelled").build();
        assertThat(CHECK.apply(List.of(modelled)).line()).isEqualTo("same - not applicable (no row selected)");
    }

    @Test
    void badChecksAndEnginesAreRefusedWithTheirKey() {
        String check = "[[check]]\nname = \"x\"\n";
        refused("check[0].reference is missing", check + "equal = \"output_sha256\"\n");
        refused("check[0].equal is \"cell\"", check + "equal = \"cell\"\nreference = {}\n");
        refused("check[0].per is [\"sed\"]", check + "equal = \"hits\"\nreference = {}\nper = [\"sed\"]\n");
        refused("unknown key 'check[0].min'", check + "equal = \"hits\"\nreference = {}\nmin = 1\n");
        refused("check[0].per is []", check + "metric = \"hits\"\nmin = 1\nper = []\n");
        refused("axes.engine is [pool, resident], expected one engine", "", "engine=pool,resident");
        refused("axes.policy is set, expected no axis of the pool beside engine resident", "", "engine=resident");
    }

    private void refused(String message, String more, String... settings) {
        assertThatThrownBy(() -> read(more, settings))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    private void read(String more, String... settings) throws IOException {
        Definitions.tiny(folder, more, settings);
    }

    private static ResultRow row(String cell, String engine, String seed, String hash) {
        return ResultRow.builder()
                .put("cell", cell)
                .put("status", "ok")
                .put("basis", "measured")
                .put("engine", engine)
                .put("seed", seed)
                .put("output_sha256", hash)
                .build();
    }
}
