package org.expertpool.pool.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
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
    })
    void anAliasStandsForTheFullName(String alias, String fullName) {
        assertThat(Policies.named(alias).fullName()).isEqualTo(fullName);
        assertThat(Policies.named(fullName)).isSameAs(Policies.named(alias));
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
                "fifo       | fifo is not known here, expected one of evict.lru (lru), static.profile (static)",
                "lru+fifo   | fifo is not known here",
            })
    void refusesOtherNames(String text, String message) {
        assertThatThrownBy(() -> Policies.named(text))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aPoolThatIsOffHasNoPolicy() {
        for (PoolConfig off : List.of(new PoolConfig(2, 8, 2, 0, 1), new PoolConfig(2, 1, 1, 5, 1))) {
            assertThatThrownBy(() -> new PolicySetup(
                            off,
                            Scope.GLOBAL,
                            Initial.FIRST_N,
                            PoolControls.DEFAULTS,
                            Optional.empty(),
                            Optional.empty()))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("the pool is off");
        }
    }
}
