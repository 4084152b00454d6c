package org.expertpool.harness.record;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.expertpool.pool.BadInputException;

/** One row of {@code results.csv}: column name to value; a column without a value is absent, never zero. */
public final class ResultRow {
    private static final MathContext DIGITS = new MathContext(10);

    private final Map<String, String> values;

    private ResultRow(Map<String, String> values) {
        this.values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    public static Builder builder() {
        return new Builder();
    }

    public Optional<String> get(String column) {
        return Optional.ofNullable(values.get(column));
    }

    /** The value, or an empty string. */
    public String text(String column) {
        return values.getOrDefault(column, "");
    }

    /** The value as a number; empty where there is none. */
    public OptionalDouble number(String column) {
        String text = values.get(column);
        if (text == null) {
            return OptionalDouble.empty();
        }
        try {
            return OptionalDouble.of(Double.parseDouble(text));
        } catch (NumberFormatException notANumber) {
            throw new BadInputException(
                    "cell " + text("cell") + ": " + column + " is '" + text + "', expected a number", notANumber);
        }
    }

    public boolean isOk() {
        return text("status").equals("ok");
    }

    public Map<String, String> values() {
        return values;
    }

    /** A builder that starts from this row. */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.values.putAll(values);
        return builder;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ResultRow row && row.values.equals(values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return values.toString();
    }

    /** A number as it stands in the file: plain decimal, at most ten significant digits, no locale. */
    public static String format(double value) {
        BigDecimal rounded = new BigDecimal(value, DIGITS);
        return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
    }

    /** Collects values; null, empty and NaN mean no value. */
    public static final class Builder {
        private final Map<String, String> values = new LinkedHashMap<>();

        private Builder() {}

        public Builder put(String column, String value) {
            if (value == null || value.isEmpty()) {
                values.remove(column);
            } else {
                values.put(column, value.replaceAll("\\s*\\R\\s*", " "));
            }
            return this;
        }

        public Builder put(String column, long value) {
            return put(column, Long.toString(value));
        }

        public Builder put(String column, double value) {
            return put(column, Double.isFinite(value) ? format(value) : "");
        }

        public ResultRow build() {
            return new ResultRow(values);
        }
    }
}
