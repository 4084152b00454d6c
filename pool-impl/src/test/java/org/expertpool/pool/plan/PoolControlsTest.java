package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.Map;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PoolControlsTest {
    @ParameterizedTest
    @CsvSource({
        "gate, 0, 1",
        "promoteLimit, 0, 2147483647",
        "promoteInterval, 1, 2147483647",
        "promoteMinMisses, 1, 2147483647",
        "protectRecent, 0, 2147483647",
    })
    void rangesAreInclusive(String name, long min, long max) {
        PoolControls start = PoolControls.DEFAULTS;
        assertThat(start.with(Map.of(name, min)).with(Map.of(name, max))).isNotNull();
        for (long outside : new long[] {min - 1, max + 1, Long.MIN_VALUE, 1L << 32}) {
            assertThatThrownBy(() -> start.with(Map.of(name, outside)))
                    .isInstanceOf(BadInputException.class)
                    .hasMessage("control " + name + " is " + outside + ", expected a whole number from " + min + " to "
                            + max);
        }
    }

    @Test
    void allChangesAreJudgedBeforeAnyIsTaken() {
        ReferencePlanner planner = new ReferencePlanner(new PoolConfig(2, 8, 2, 3, 1));
        Map<String, Integer> changes = new LinkedHashMap<>();
        changes.put("gate", 1);
        changes.put("promoteLimit", 5);
        changes.put("protectRecent", -1);
        assertThatThrownBy(() -> planner.control(changes)).isInstanceOf(BadInputException.class);
        assertThat(planner.controls()).isEqualTo(PoolControls.DEFAULTS);
        changes.put("protectRecent", 3);
        planner.control(changes);
        assertThat(planner.controls()).isEqualTo(new PoolControls(1, 5, 1, 1, 3));
    }

    @Test
    void unknownNamesAreRefused() {
        assertThatThrownBy(() -> PoolControls.DEFAULTS.with(Map.of("Gate", 1)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("control Gate is unknown, expected one of gate, promoteLimit, promoteInterval,"
                        + " promoteMinMisses, protectRecent");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.5, Double.NaN, Double.POSITIVE_INFINITY})
    void fractionsAreRefusedNotCutOff(double value) {
        assertThatThrownBy(() -> PoolControls.DEFAULTS.with(Map.of("gate", value)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("control gate is " + value + ", expected a whole number");
    }

    @Test
    void numbersBeyondSixtyFourBitsAreRefusedNotCutOff() {
        BigInteger value = BigInteger.ONE.shiftLeft(64); // its low 64 bits are a promoteLimit that is allowed
        assertThatThrownBy(() -> PoolControls.DEFAULTS.with(Map.of("promoteLimit", value)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("control promoteLimit is 18446744073709551616, expected a whole number");
    }

    @Test
    void startsClosedWithTheDefaults() {
        assertThat(PoolControls.DEFAULTS).isEqualTo(new PoolControls(0, 0, 1, 1, 0));
    }
}
