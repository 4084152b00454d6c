package org.expertpool.plots;

import java.util.Map;
import java.util.OptionalDouble;

/** One row of a results file: cells by column name, an empty cell meaning no value. */
record ResultsRow(String file, long line, Map<String, String> cells) {
    ResultsRow {
        cells = Map.copyOf(cells);
    }

    /** The cell's text, empty where the cell is empty or the file has no such column. */
    String text(String column) {
        return cells.getOrDefault(column, "");
    }

    /** The cell's number, none where it is empty; throws {@link BadResultsException} where it is no finite number. */
    OptionalDouble number(String column) {
        String text = text(column);
        if (text.isEmpty()) {
            return OptionalDouble.empty();
        }
        try {
            double value = Double.parseDouble(text);
            if (Double.isFinite(value)) {
                return OptionalDouble.of(value);
            }
        } catch (NumberFormatException notANumber) {
            throw bad(column, "a finite decimal number or nothing", notANumber);
        }
        throw bad(column, "a finite decimal number or nothing", null);
    }

    /** True where the cell says {@code false}: an empty cell is no statement. */
    boolean saysNo(String column) {
        return saysYesOrNo(column).equals("false");
    }

    /** True where the cell says {@code true}. */
    boolean saysYes(String column) {
        return saysYesOrNo(column).equals("true");
    }

    private String saysYesOrNo(String column) {
        String text = text(column);
        if (!text.isEmpty() && !text.equals("true") && !text.equals("false")) {
            throw bad(column, "true, false or nothing", null);
        }
        return text;
    }

    BadResultsException bad(String column, String expected, Throwable cause) {
        return new BadResultsException(
                "%s line %d, column %s: '%s', expected %s".formatted(file, line, column, text(column), expected),
                cause);
    }
}
