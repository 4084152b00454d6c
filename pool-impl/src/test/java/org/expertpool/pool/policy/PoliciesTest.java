package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoliciesTest {
    @ParameterizedTest
    @CsvSource({
        "lru, evict.lru",
        "static, static.profile",
        "static-leaky, static.profile-leaky",
        "belady, bound.belady",
        "belady-forced, bound.belady-forced",
        "lfu, evict.lfu",
        "2q, evict.2q",
        "w-tinylfu, evict.w-tinylfu(1)",
        "'random(7)', evict.random(7)",
        "half-pinned, evict.lru+pin.profile(50)",
        "heat, 'heat.exchange(0.999,50,1.3,8)'",
        "promote.nth-touch, 'evict.lru+promote.nth-touch(2,8)'",
        "'lru+promote.hotter(32,0.50)+scope.layer', 'evict.lru+promote.hotter(32,0.5)+scope.layer'",
        "lfu-decayed(.950), evict.lfu-decayed(0.95)",
    })
    void anAliasStandsForTheFullName(String alias, String fullName) {
        assertThat(Policies.named(alias).fullName()).isEqualTo(fullName);
        assertThat(Policies.named(fullName).fullName()).isEqualTo(fullName);
    }

    @Test
    void namesComeApart() {
        assertThat(PolicyName.splitList("lru, evict.lru+promote.nth-touch(2,8),belady"))
                .containsExactly("lru", "evict.lru+promote.nth-touch(2,8)", "belady");
        PolicyName name = PolicyName.parse("evict.lru + promote.nth-touch(2, 8)");
        assertThat(name.parts())
                .containsExactly(
                        new PolicyName.Part("evict.lru", List.of()),
                        new PolicyName.Part("promote.nth-touch", List.of("2", "8")));
        assertThat(name).hasToString("evict.lru+promote.nth-touch(2,8)");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''         | is no policy part",
                "Lru        | is no policy part",
                "lru++lru   | is no policy part",
                "lru(2)x    | is no policy part",
                "lru(2      | parentheses do not match",
                "lru)2(     | parentheses do not match",
                "lru(2)     | takes no arguments",
                "mru        | mru is not known here, expected one of evict.lru, evict.random",
                "lru+mru    | mru is not known here",
                "lru+fifo   | fifo is not known here",
                "lru+evict.fifo | evict.fifo stands in the wrong place",
                "scope.layer | scope.layer stands in the wrong place",
                "belady+promote.hotter | promote.hotter does not go with bound.belady",
                "static+pin.profile | pin.profile does not go with static.profile",
                "lru+scope.layer+scope.global | expected one scope",
                "lru+promote.hotter+promote.hotter(32) | promote.hotter is given twice",
                "lru+promote.nth-touch(0,8) | touches is \"0\", expected a whole number from 1 to 64",
                "lru+promote.nth-touch(2.5,8) | touches is \"2.5\", expected a whole number from 1 to 64",
                "lru+promote.nth-touch(2,8,3) | takes at most touches, window in forwards",
                "lfu-decayed(1.01) | decay per forward is \"1.01\", expected a number from 0.5 to 1",
                "lfu-decayed(1e999999999) | expected a number from 0.5 to 1",
                "lfu-decayed(x) | decay per forward is \"x\"",
            })
    void refusesOtherNames(String text, String message) {
        assertThatThrownBy(() -> Policies.named(text))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aPoolThatIsOffHasNoPolicy() {
        for (PoolConfig off : List.of(new PoolConfig(2, 8, 2, 0, 1), new PoolConfig(2, 1, 1, 5, 1))) {
            assertThatThrownBy(() -> PolicySetup.of(off, Scope.GLOBAL, Initial.FIRST_N, PoolControls.DEFAULTS))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("the pool is off");
        }
    }
}
