package org.expertpool.harness.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.expertpool.harness.record.MarkdownTable;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;

/**
 * What {@link DeviceLayers} measured, with peers and floors beside where the model is the one they were measured on.
 *
 * @param fillSeconds all experts pinned and filled
 * @param activations their type
 * @param rows N of the pools
 */
public record DeviceLayerTable(
        String device,
        double fillSeconds,
        ModelGeometry geometry,
        ActivationType activations,
        int rows,
        List<LayerTime> times) {
    private static final List<String> COLUMNS = List.of(
            "device",
            "model",
            "activations",
            "rows_per_layer",
            "engine",
            "mode",
            "tokens",
            "misses",
            "layers",
            "forwards",
            "median_us_per_layer",
            "p10_us",
            "p90_us",
            "best_peer_us",
            "floor_us");
    private static final int SAID_BEFORE = 4; // the first columns, equal in all rows
    private static final CSVFormat FORMAT =
            CSVFormat.RFC4180.builder().setRecordSeparator('\n').get();
    private static final String MARKED_MODEL = "qwen3.8-flash-next";

    public DeviceLayerTable {
        times = List.copyOf(times);
    }

    public String markdown() {
        MarkdownTable table = new MarkdownTable(COLUMNS.subList(SAID_BEFORE, COLUMNS.size()));
        times.forEach(time -> table.add(cells(time).subList(SAID_BEFORE, COLUMNS.size())));
        return table.toString();
    }

    public String csv() {
        StringBuilder text = new StringBuilder();
        try (CSVPrinter printer = new CSVPrinter(text, FORMAT)) {
            printer.printRecord(COLUMNS);
            for (LayerTime time : times) {
                printer.printRecord(cells(time));
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // a string takes everything
        }
        return text.toString();
    }

    private List<String> cells(LayerTime time) {
        Optional<LayerMark> mark =
                geometry.name().equals(MARKED_MODEL) && time.mode().equals("graph")
                        ? LayerMark.of(time)
                        : Optional.empty();
        return List.of(
                device,
                geometry.name(),
                activations.label(),
                time.misses() >= 0 ? Integer.toString(rows) : "",
                time.engine(),
                time.mode(),
                Integer.toString(time.tokens()),
                time.misses() < 0 ? "" : Integer.toString(time.misses()),
                Integer.toString(time.layers()),
                Integer.toString(time.forwards()),
                micros(time.medianMicros()),
                micros(time.p10Micros()),
                micros(time.p90Micros()),
                mark.map(held -> micros(held.peer())).orElse(""),
                mark.map(held -> micros(held.floor())).orElse(""));
    }

    private static String micros(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
