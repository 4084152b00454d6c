package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

class AxisTest {
    @Test
    void logAxesLieInOctavesAndReadInValues() {
        Axis tokens = Axis.log2("tokens", Axis.Ticks.TOKENS);
        assertThat(tokens.position(4096)).isEqualTo(12);
        assertThat(List.of(9.0, 12.0, 18.0, 20.0, 21.0))
                .extracting(tokens::tickText)
                .containsExactly("512", "4k", "256k", "1M", "2M");
        assertThat(tokens.tickText(15.5)).isEqualTo("45.3k");
        Axis percent = Axis.log2("%", Axis.Ticks.PERCENT);
        assertThat(percent.tickText(-3)).isEqualTo("0.125 %");
        assertThat(percent.tickText(6)).isEqualTo("64 %");
    }

    @Test
    void rowsReadWithTheirShareOfTheExperts() {
        Axis rows = Axis.linear("rows", Axis.Ticks.NUMBER).withShareOf(512);
        assertThat(rows.title()).isEqualTo("rows (share of the 512 experts)");
        assertThat(rows.tickText(128)).isEqualTo("128 (25 %)");
        assertThat(Axis.linear("rows", Axis.Ticks.NUMBER).withShareOf(0).tickText(12384))
                .isEqualTo("12,384");
    }

    @Test
    void categoriesReadAtTheirPositionsOnly() {
        Axis axis = Axis.ofCategories("engine", List.of("pool", "uva"));
        assertThat(axis.tickText(1)).isEqualTo("uva");
        assertThat(axis.tickText(.5)).isEqualTo("0.5");
    }

    @Test
    @ResourceLock(Resources.LOCALE)
    void numbersReadTheSameInEveryLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.GERMANY);
            assertThat(Numbers.plain(262144)).isEqualTo("262,144");
            assertThat(Numbers.fixed(.5, 2)).isEqualTo("0.50");
            assertThat(Numbers.plain(1234.56)).isEqualTo("1,235");
            assertThat(Numbers.grouped("261632")).isEqualTo("261,632");
            assertThat(Numbers.grouped("4096/8192")).isEqualTo("4096/8192");
        } finally {
            Locale.setDefault(before);
        }
    }
}
