package org.expertpool.harness.run;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.harness.record.ResultRow;

/** The results of a run as a Markdown table: columns that vary or that hold a main metric, numbers to four digits. */
final class SummaryTable {
    private static final List<String> LABELS = List.of(
            "basis",
            "engine",
            "window",
            "policy",
            "scope",
            "rows_per_layer",
            "graph_mode",
            "context",
            "device",
            "memory_bytes",
            "streams",
            "input_tokens",
            "chunk_tokens",
            "partition",
            "prefill_promote",
            "ple",
            "decode_tokens",
            "controls",
            "seed",
            "repetition",
            "note",
            "status");
    private static final List<String> METRICS = List.of(
            "hit_ratio",
            "compulsory_misses",
            "capacity_misses",
            "admission_misses",
            "victim_misses",
            "inserts_per_100",
            "promoted_per_forward",
            "staged_per_forward",
            "h2d_bytes_per_token",
            "prefill_tok_per_s",
            "ttft_s",
            "decode_ms_per_token",
            "decode_tok_per_s",
            "fits",
            "context_capacity_tokens");
    private static final String MISSES = "_misses";
    private static final MathContext SHOWN = new MathContext(4);

    private SummaryTable() {}

    /** The table of the rows given, in their order; the rows_per_layer column is always there. */
    static String of(List<ResultRow> rows) {
        List<String> columns = new ArrayList<>();
        LABELS.stream()
                .filter(column -> column.equals("rows_per_layer")
                        || rows.stream().map(row -> row.text(column)).distinct().count() > 1)
                .forEach(columns::add);
        METRICS.stream()
                .filter(column -> rows.stream().anyMatch(row -> row.get(column).isPresent()))
                .forEach(columns::add);
        MarkdownTable table =
                new MarkdownTable(columns.stream().map(SummaryTable::title).toList());
        rows.forEach(row ->
                table.add(columns.stream().map(column -> shown(column, row)).toList()));
        return table.toString();
    }

    private static String title(String column) {
        return column.endsWith(MISSES) ? column.replace(MISSES, " %") : column;
    }

    private static String shown(String column, ResultRow row) {
        String value = row.text(column);
        double selections = row.number("selections").orElse(0);
        if (column.endsWith(MISSES) && !value.isEmpty() && selections > 0) { // parts of the misses, of all selections
            return percent(100 * row.number(column).orElseThrow() / selections);
        }
        if (value.isEmpty() || !METRICS.contains(column) || !value.matches("-?[0-9.]+") || !value.contains(".")) {
            return value;
        }
        return number(Double.parseDouble(value));
    }

    /** To four digits. */
    static String number(double value) {
        return new BigDecimal(value).round(SHOWN).toPlainString();
    }

    private static String percent(double value) {
        String text = String.format(Locale.ROOT, "%.2f", value);
        return text.equals("-0.00") ? "0.00" : text; // a part of the misses may be a little below none
    }
}
