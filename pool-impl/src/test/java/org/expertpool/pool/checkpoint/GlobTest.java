package org.expertpool.pool.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class GlobTest {
    /** Beside the same pattern as a regular expression, on short random patterns and names of few letters. */
    @Test
    void matchesAsARegularExpressionDoes() {
        SplittableRandom random = new SplittableRandom(1);
        int matches = 0;
        for (int i = 0; i < 20_000; i++) {
            String pattern = word(random, "ab.*");
            String name = word(random, "ab.");
            boolean expected = regex(pattern).matcher(name).matches();
            assertThat(Glob.matches(pattern, name)).as(pattern + " " + name).isEqualTo(expected);
            matches += expected ? 1 : 0;
        }
        assertThat(matches).isBetween(2_000, 18_000);
    }

    @Test
    void coversModulesBelow() {
        assertThat(Glob.covers("model.layers.1", "model.layers.1.mlp.experts.0.up_proj"))
                .isTrue();
        assertThat(Glob.covers("model.layers.1", "model.layers.11.mlp")).isFalse();
        assertThat(Glob.covers("*.mlp", "model.layers.1.mlp.experts.0")).isTrue();
        assertThat(Glob.covers("model*gate", "model.layers.1.mlp.gate_proj")).isFalse();
        assertThat(Glob.covers("", "model")).isFalse();
    }

    /** A pattern that would send a backtracking matcher on for ages. */
    @Test
    void endsOnPatternsOfManyStars() {
        assertThat(Glob.matches("*a".repeat(40) + "*b", "a".repeat(200))).isFalse();
    }

    private static Pattern regex(String glob) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            regex.append(c == '*' ? ".*" : Pattern.quote(String.valueOf(c)));
        }
        return Pattern.compile(regex.toString());
    }

    private static String word(SplittableRandom random, String letters) {
        StringBuilder word = new StringBuilder();
        for (int left = random.nextInt(7); left > 0; left--) {
            word.append(letters.charAt(random.nextInt(letters.length())));
        }
        return word.toString();
    }
}
