package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolTablesTest {
    private static final PoolConfig CONFIG = new PoolConfig(2, 4, 1, 2, 1);

    @Test
    void equalTablesDoNotDiffer() {
        assertThat(new PoolTables(CONFIG).firstDifference(new PoolTables(CONFIG)))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "hotRow, 'hotRow[7] is 9, expected -1'",
        "coldRow, 'coldRow[7] is 9, expected 3'",
        "rowKey, 'rowKey[4] is 9, expected -1'",
        "rowUse, 'rowUse[4] is 9, expected 9223372036854775807'",
        "missCount, 'missCount[7] is 9, expected 0'",
        "clock, 'clock is 9, expected 0'",
        "forwards, 'forwards is 9, expected 0'",
        "error, 'error is 9, expected 0'",
    })
    void everyTablesLastEntryAndEveryCounterIsCompared(String name, String difference) {
        Consumer<PoolTables> change = switch (name) {
            case "hotRow" -> tables -> tables.hotRow[7] = 9;
            case "coldRow" -> tables -> tables.coldRow[7] = 9;
            case "rowKey" -> tables -> tables.rowKey[4] = 9;
            case "rowUse" -> tables -> tables.rowUse[4] = 9;
            case "missCount" -> tables -> tables.missCount[7] = 9;
            case "clock" -> tables -> tables.clock = 9;
            case "forwards" -> tables -> tables.forwards = 9;
            case "error" -> tables -> tables.error = 9;
            default -> throw new IllegalArgumentException(name);
        };
        PoolTables actual = new PoolTables(CONFIG);
        change.accept(actual);
        assertThat(new PoolTables(CONFIG).firstDifference(actual)).contains(difference);
    }

    @Test
    void placesAnyExpertsInTheirLayersRows() {
        PoolTables tables = PoolTables.placed(CONFIG, layer -> layer == 0 ? new int[] {} : new int[] {3, 1});
        TableCheck.require(tables);
        assertThat(tables.rowKey).containsExactly(-1, -1, 7, 5, -1);
        assertThat(tables.hotRow).containsExactly(-1, -1, -1, -1, -1, 3, -1, 2);
        assertThat(tables.coldRow).containsExactly(0, 1, 2, 3, 0, -1, 2, -1);
        assertThat(tables.rowUse).containsExactly(0, 0, 0, 0, Long.MAX_VALUE);
        assertThatThrownBy(() -> PoolTables.placed(CONFIG, layer -> new int[] {0, 1, 2}))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }
}
