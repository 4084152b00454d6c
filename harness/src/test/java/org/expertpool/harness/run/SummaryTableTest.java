package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.expertpool.harness.record.ResultRow;
import org.junit.jupiter.api.Test;

class SummaryTableTest {
    @Test
    void partsOfTheMissesAreSharesOfTheSelectionsAndNoneOfThemIsMinusZero() {
        List<ResultRow> rows = List.of(row(-1), row(-400), row(300));
        assertThat(SummaryTable.of(rows))
                .contains("| rows_per_layer | victim % |", "|     0.00 |", "|    -0.40 |", "|     0.30 |")
                .doesNotContain("-0.00");
    }

    private static ResultRow row(long victim) {
        return ResultRow.builder()
                .put("rows_per_layer", 16)
                .put("selections", 100_000)
                .put("victim_misses", victim)
                .build();
    }
}
