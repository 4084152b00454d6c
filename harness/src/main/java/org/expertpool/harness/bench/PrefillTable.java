package org.expertpool.harness.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.expertpool.harness.compare.MedianRatio;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;

/** What {@link PrefillLayers} measured, with peers where the model is the one they were measured on. */
public record PrefillTable(
        String device,
        ModelGeometry geometry,
        ActivationType activations,
        List<PrefillTime> times,
        List<PrefillRatios> ratios) {
    private static final List<String> COLUMNS = List.of(
            "device",
            "model",
            "engine",
            "mode",
            "routing",
            "tokens",
            "residents_per_layer",
            "missing_per_layer",
            "layers",
            "forwards",
            "median_ms_per_layer",
            "p10_ms",
            "p90_ms",
            "h2d_gb_per_s",
            "floor_ms",
            "best_peer_ms",
            "activations");
    private static final List<String> RATIO_COLUMNS = List.of(
            "device",
            "model",
            "routing",
            "tokens",
            "residents_per_layer",
            "rounds",
            "host_view_over_streamed",
            "host_view_low",
            "host_view_high",
            "uva_over_streamed",
            "uva_low",
            "uva_high",
            "link_share",
            "link_share_low",
            "link_share_high",
            "activations");
    private static final CSVFormat FORMAT =
            CSVFormat.RFC4180.builder().setRecordSeparator('\n').get();
    private static final String MARKED_MODEL = "qwen3.8-flash-next";

    public PrefillTable {
        times = List.copyOf(times);
        ratios = List.copyOf(ratios);
    }

    public String markdown() {
        MarkdownTable table = new MarkdownTable(COLUMNS.subList(2, COLUMNS.size()));
        times.forEach(time -> table.add(cells(time).subList(2, COLUMNS.size())));
        MarkdownTable second = new MarkdownTable(RATIO_COLUMNS.subList(2, RATIO_COLUMNS.size()));
        ratios.forEach(ratio -> second.add(cells(ratio).subList(2, RATIO_COLUMNS.size())));
        return table + "\n" + second;
    }

    public String csv() {
        return csv(COLUMNS, times.stream().map(this::cells).toList());
    }

    /** Of the streamed way to the others, with 95 % intervals. */
    public String ratiosCsv() {
        return csv(RATIO_COLUMNS, ratios.stream().map(this::cells).toList());
    }

    private static String csv(List<String> columns, List<List<String>> rows) {
        StringBuilder text = new StringBuilder();
        try (CSVPrinter printer = new CSVPrinter(text, FORMAT)) {
            printer.printRecord(columns);
            printer.printRecords(rows);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // a string takes everything
        }
        return text.toString();
    }

    private List<String> cells(PrefillTime time) {
        LayerTime layer = time.layer();
        boolean marked = geometry.name().equals(MARKED_MODEL)
                && activations == ActivationType.BF16
                && time.peerMilliseconds() > 0;
        return List.of(
                device,
                geometry.name(),
                layer.engine(),
                layer.mode(),
                time.routing(),
                Integer.toString(layer.tokens()),
                Integer.toString(time.residents()),
                String.format(Locale.ROOT, "%.2f", time.missingRows()),
                Integer.toString(layer.layers()),
                Integer.toString(layer.forwards()),
                decimals(time.milliseconds()),
                decimals(layer.p10Micros() * 1e-3),
                decimals(layer.p90Micros() * 1e-3),
                String.format(Locale.ROOT, "%.2f", time.gigabytesPerSecond()),
                decimals(time.floorMilliseconds()),
                marked ? decimals(time.peerMilliseconds()) : "",
                activations.label());
    }

    private List<String> cells(PrefillRatios ratio) {
        List<String> cells = new ArrayList<>(List.of(
                device,
                geometry.name(),
                ratio.routing(),
                Integer.toString(ratio.tokens()),
                Integer.toString(ratio.residents()),
                Integer.toString(ratio.rounds())));
        for (MedianRatio each : List.of(ratio.hostView(), ratio.uva(), ratio.linkShare())) {
            cells.addAll(List.of(decimals(each.ratio()), decimals(each.low()), decimals(each.high())));
        }
        cells.add(activations.label());
        return cells;
    }

    private static String decimals(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }
}
