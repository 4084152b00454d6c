package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.junit.jupiter.api.Test;

class RepeatedCellsTest {
    @Test
    void cellsWithSeveralValuesGetTheirMedianAndItsInterval() {
        // Of three values a resampled median is the least or the greatest in 7 of 27 draws each: both ends of 95 %.
        String table = RepeatedCells.table(
                List.of(row("a", 430.16), row("b", 7), row("a", 428.3), row("b", 7), row("a", 429.5), row("c", 1)));
        assertThat(table.lines().toList())
                .hasSize(3)
                .last()
                .asString()
                .containsSubsequence("a", "decode_tok_per_s", "3", "429.5", "428.3 to 430.2");
        assertThat(RepeatedCells.table(List.of(row("a", 1), row("b", 2)))).isEmpty();
    }

    private static ResultRow row(String cell, double speed) {
        return ResultRow.builder()
                .put("cell", cell)
                .put("status", "ok")
                .put("basis", "measured")
                .put("decode_tok_per_s", speed)
                .build();
    }
}
