package org.expertpool.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolConfigTest {
    /** Sizes by hand from pool-semantics 1: n = min(N, E - 1), S = topK * decodeTokens, R = L * n + S. */
    @ParameterizedTest(name = "L={0} E={1} k={2} N={3} T={4}")
    @CsvSource({
        "48, 512, 10, 258, 1, 258, 10, 16, 12394",
        "48, 512, 10, 208, 6, 208, 60, 64, 10044",
        "48, 512, 10, 512, 99, 511, 60, 64, 24588",
        "48, 128, 8, 64, 8, 64, 64, 64, 3136",
        "48, 128, 8, 64, 9, 64, 64, 64, 3136",
        "2, 100, 64, 64, 5, 64, 64, 64, 192",
        "2, 100, 65, 70, 5, 70, 65, 128, 205",
        "1, 2, 1, 1, 1, 1, 1, 1, 2",
        "1, 1, 1, 7, 3, 0, 3, 4, 3",
        "4, 9, 3, 0, 1, 0, 3, 4, 3",
    })
    void sizesFollowTheSpec(
            int layers, int experts, int topK, int rows, int tokens, int resident, int lanes, int width, int bankRows) {
        PoolConfig config = new PoolConfig(layers, experts, topK, rows, tokens);
        assertThat(config.residentPerLayer()).isEqualTo(resident);
        assertThat(config.width()).isEqualTo(new PlannerWidth(lanes / topK, lanes, width));
        assertThat(config.stagingRows()).isEqualTo(lanes);
        assertThat(config.bankRows()).isEqualTo(bankRows);
        assertThat(config.poolRows()).isEqualTo(layers * resident);
        assertThat(config.enabled()).isEqualTo(rows > 0);
    }

    @ParameterizedTest
    @CsvSource({
        "2, 8, 3, -1, 1, rows is -1",
        "2, 8, 3, 1, 1, 'rows is 1: min(rows, experts - 1) = 1, expected 0 (pool off) or at least topK = 3'",
        "2, 8, 3, 2, 1, 'rows is 2: min(rows, experts - 1) = 2, expected 0'",
        "2, 3, 3, 9, 1, 'rows is 9: min(rows, experts - 1) = 2, expected 0'",
        "0, 8, 3, 4, 1, layers is 0",
        "2, 0, 3, 4, 1, experts is 0",
        "2, 8, 0, 4, 1, topK is 0",
        "2, 8, 9, 4, 1, 'topK is 9, expected at most experts = 8'",
        "2, 8, 3, 4, 0, maxDecodeTokens is 0",
        "70000, 40000, 3, 4, 1, 'layers * experts is 2800000000, expected at most 2147483647'",
    })
    void guardsNameTheField(int layers, int experts, int topK, int rows, int tokens, String message) {
        assertThatThrownBy(() -> new PoolConfig(layers, experts, topK, rows, tokens))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void theRowsKnobIsInTheHash() {
        PoolConfig config = new PoolConfig(48, 512, 10, 258, 1);
        assertThat(config.hash())
                .hasSize(64)
                .isEqualTo(new PoolConfig(48, 512, 10, 258, 1).hash())
                .isNotEqualTo(new PoolConfig(48, 512, 10, 208, 1).hash())
                .isNotEqualTo(new PoolConfig(48, 512, 10, 0, 1).hash());
        // Same effective rows, another knob: still another configuration.
        assertThat(new PoolConfig(2, 8, 2, 7, 1).hash()).isNotEqualTo(new PoolConfig(2, 8, 2, 8, 1).hash());
    }

    @Test
    void aPoolThatIsOffHasNoPlanner() {
        assertThatThrownBy(() -> new ReferencePlanner(new PoolConfig(2, 8, 2, 0, 1)))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("rows is 0");
    }
}
