package org.expertpool.plots;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Numbers as figures show them, the same in every locale. */
final class Numbers {
    private Numbers() {}

    /** With thousands separators and three significant digits below 1,000 where it is no whole number: {@code 12,384}, {@code 0.125}. */
    static String plain(double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            return String.format(Locale.ROOT, "%,d", (long) value);
        }
        if (Math.abs(value) >= 1000) {
            return String.format(Locale.ROOT, "%,d", Math.round(value));
        }
        return new BigDecimal(value)
                .round(new MathContext(3))
                .stripTrailingZeros()
                .toPlainString();
    }

    static String fixed(double value, int decimals) {
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    /** A token count in units of 1,024: {@code 512}, {@code 4k}, {@code 256k}, {@code 1M}. */
    static String tokens(double value) {
        if (value >= 1 << 20) {
            return plain(value / (1 << 20)) + "M";
        }
        return value >= 1 << 10 ? plain(value / (1 << 10)) + "k" : plain(value);
    }

    /** A column's text with thousands separators where it is a whole number, else as it is. */
    static String grouped(String text) {
        return text.matches("\\d{1,15}") ? String.format(Locale.ROOT, "%,d", Long.parseLong(text)) : text;
    }
}
