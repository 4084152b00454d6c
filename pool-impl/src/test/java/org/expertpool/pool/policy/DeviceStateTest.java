package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The state of policies that fit one block, by hand for 48 layers of 512 experts: 24,576 keys and, with 258 rows, 12,384 rows. */
class DeviceStateTest {
    private static PolicySetup setup() {
        return PolicySetup.of(
                new PoolConfig(48, 512, 10, 258, 1),
                Scope.GLOBAL,
                Initial.FIRST_N,
                PoolControls.DEFAULTS.withGate(true));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "evict.lru                      | 0      | ''",
                "evict.fifo                     | 99072  | promotedAt I64 12384",
                "evict.clock                    | 1552   | referenced BIT 12384, hand I32 1",
                "evict.clock+scope.layer        | 1740   | referenced BIT 12384, hand I32 48",
                "evict.lfru                     | 196608 | count I32 24576, lastForward I32 24576",
                "evict.lfu-halving(64)          | 196608 | count I32 24576, halvings I32 24576",
                "evict.lfu                      | 98304  | count I32 24576, halvings I32 0",
                "promote.nth-touch(2,8)         | 196608 | touch I32 49152",
                "promote.hotter(64,0)           | 196864 | heat I32 24576, heatForward I32 24576, factor I32 64",
                "promote.router-weight(0.1)     | 0      | ''",
                "evict.clock+promote.nth-touch(2,8)+promote.insert-cap(2) | 198160 | referenced BIT 12384, hand I32 1, touch I32 49152",
            })
    void isWhatTheRuleKeeps(String name, long bytes, String arrays) {
        DeviceState state = Policies.named(name).deviceState(setup()).orElseThrow();
        assertThat(state.bytes()).isEqualTo(bytes);
        assertThat(state.arrays().stream()
                        .map(array -> array.name() + " " + array.entry() + " " + array.length())
                        .collect(Collectors.joining(", ")))
                .isEqualTo(arrays);
    }

    /** Linked lists, floating point, the host, the future. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "sieve",
                "s3-fifo",
                "2q",
                "arc",
                "w-tinylfu",
                "lfu-decayed",
                "gate-ewma",
                "lfu-decayed+promote.hotter",
                "heat",
                "static",
                "belady"
            })
    void isAbsentWhereAPartDoesNotFitOneBlock(String name) {
        assertThat(Policies.named(name).deviceState(setup())).isEmpty();
    }

    /** Integers alone: the arithmetic of the Java rule is then the device's. A double or float field would show here. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                LruOrder.class,
                ClockOrder.class,
                LfruOrder.class,
                LfuOrder.class,
                NthTouchRule.class,
                HotterRule.class
            })
    void rulesThatFitKeepNoFloatingPoint(Class<?> rule) {
        assertThat(Arrays.stream(rule.getDeclaredFields()).map(Field::getType).map(Class::getName))
                .doesNotContain("double", "float", "[D", "[F");
    }
}
