package org.expertpool.harness.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.expertpool.harness.record.ResultColumn;
import org.expertpool.harness.record.ResultsSchema;

/**
 * Reads one {@code [[check]]} of a definition: a range of a metric, equality of a column with reference rows, or a range of
 * a metric's ratio to theirs.
 */
final class CheckReader {
    private CheckReader() {}

    static Check read(TomlTable table) {
        if (table.has("ratio")) {
            return ratio(table);
        }
        return table.has("equal") ? equality(table) : range(table);
    }

    private static RatioCheck ratio(TomlTable table) {
        table.allow(List.of("name", "where", "ratio", "reference", "along", "min", "max"));
        String metric = metric(table, "ratio");
        requireReference(table);
        requireLimit(table);
        Optional<String> along = table.has("along") ? Optional.of(metric(table, "along")) : Optional.empty();
        return new RatioCheck(
                table.text("name"),
                selection(table, "where"),
                ResultsSchema.column(metric).orElseThrow(),
                selection(table, "reference"),
                along,
                table.optionalNumber("min"),
                table.optionalNumber("max"));
    }

    private static void requireReference(TomlTable table) {
        if (!table.has("reference")) {
            throw table.bad("reference", "column values that select the rows to compare with");
        }
    }

    private static void requireLimit(TomlTable table) {
        if (!table.has("min") && !table.has("max")) {
            throw table.bad("min", "min, max or both");
        }
    }

    private static RangeCheck range(TomlTable table) {
        table.allow(List.of("name", "where", "metric", "min", "max", "equal", "reference", "per"));
        for (String key : List.of("reference", "per")) {
            if (table.has(key)) {
                throw table.bad(key, "such a key beside equal alone");
            }
        }
        String metric = metric(table, "metric");
        requireLimit(table);
        return new RangeCheck(
                table.text("name"),
                selection(table, "where"),
                metric,
                table.optionalNumber("min"),
                table.optionalNumber("max"));
    }

    private static EqualityCheck equality(TomlTable table) {
        table.allow(List.of("name", "where", "equal", "reference", "per"));
        String column = metric(table, "equal");
        requireReference(table);
        List<String> per = table.texts("per");
        for (String key : per) {
            if (ResultsSchema.column(key).isEmpty()) {
                throw table.bad("per", "columns of the results schema");
            }
        }
        return new EqualityCheck(
                table.text("name"), selection(table, "where"), column, selection(table, "reference"), per);
    }

    private static String metric(TomlTable table, String key) {
        String metric = table.text(key);
        if (ResultsSchema.column(metric).filter(ResultColumn::isMetric).isEmpty()) {
            throw table.bad(key, "a metric of the results schema, such as hit_ratio");
        }
        return metric;
    }

    /** A table of column values that select rows. */
    static RowSelection selection(TomlTable table, String key) {
        TomlTable where = table.table(key);
        Map<String, String> selection = new LinkedHashMap<>();
        for (String column : where.keys()) {
            if (ResultsSchema.column(column).isEmpty() || !where.get(column).isValueNode()) {
                throw where.bad(column, "a column of the results schema with one value");
            }
            selection.put(column, where.get(column).asText());
        }
        return new RowSelection(selection);
    }
}
