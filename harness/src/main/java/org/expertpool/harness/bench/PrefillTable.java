package org.expertpool.harness.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.pool.model.ModelGeometry;

/** What {@link PrefillLayers} measured, with peers where the model is the one they were measured on. */
public record PrefillTable(String device, ModelGeometry geometry, List<PrefillTime> times) {
    private static final List<String> COLUMNS = List.of(
            "device",
            "model",
            "engine",
            "mode",
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
            "best_peer_ms");
    private static final CSVFormat FORMAT =
            CSVFormat.RFC4180.builder().setRecordSeparator('\n').get();
    private static final String MARKED_MODEL = "qwen3.8-flash-next";

    public PrefillTable {
        times = List.copyOf(times);
    }

    public String markdown() {
        MarkdownTable table = new MarkdownTable(COLUMNS.subList(2, COLUMNS.size()));
        times.forEach(time -> table.add(cells(time).subList(2, COLUMNS.size())));
        return table.toString();
    }

    public String csv() {
        StringBuilder text = new StringBuilder();
        try (CSVPrinter printer = new CSVPrinter(text, FORMAT)) {
            printer.printRecord(COLUMNS);
            for (PrefillTime time : times) {
                printer.printRecord(cells(time));
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // a string takes everything
        }
        return text.toString();
    }

    private List<String> cells(PrefillTime time) {
        LayerTime layer = time.layer();
        boolean marked = geometry.name().equals(MARKED_MODEL) && time.peerMilliseconds() > 0;
        return List.of(
                device,
                geometry.name(),
                layer.engine(),
                layer.mode(),
                Integer.toString(layer.tokens()),
                Integer.toString(time.residents()),
                String.format(Locale.ROOT, "%.2f", time.missingRows()),
                Integer.toString(layer.layers()),
                Integer.toString(layer.forwards()),
                millis(time.milliseconds()),
                millis(layer.p10Micros() * 1e-3),
                millis(layer.p90Micros() * 1e-3),
                String.format(Locale.ROOT, "%.2f", time.gigabytesPerSecond()),
                millis(time.floorMilliseconds()),
                marked ? millis(time.peerMilliseconds()) : "");
    }

    private static String millis(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }
}
