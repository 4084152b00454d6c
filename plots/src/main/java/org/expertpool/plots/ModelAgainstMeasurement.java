package org.expertpool.plots;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** How far the modelled time of a decode forward lies from the measured one, for cells that a file holds on both bases. */
final class ModelAgainstMeasurement implements Figure {
    private static final double BAND_PERCENT = 10;
    private static final Set<String> NOT_TOLD =
            Set.of("policy", "scope", "window", "initial", "engine", "device", "backend", "basis", "memory", "rest");

    private record Key(String experiment, String cell, String repetition) {
        static Key of(ResultsRow row) {
            return new Key(row.text("experiment"), row.text("cell"), row.text("repetition"));
        }
    }

    @Override
    public Optional<FigureData> of(ResultsTable table) {
        Map<Key, Double> modelled = new HashMap<>();
        for (ResultsRow row : table.own()) {
            if (row.text("basis").equals("modelled")) {
                time(row).ifPresent(millis -> modelled.put(Key.of(row), millis));
            }
        }
        List<ResultsRow> measured = table.own().stream()
                .filter(row -> row.text("basis").equals("measured") && modelled.containsKey(Key.of(row)))
                .toList();
        List<Curve> curves = Curves.of(
                measured,
                ModelAgainstMeasurement::time,
                row -> time(row).stream()
                        .map(millis -> 100 * (modelled.get(Key.of(row)) / millis - 1))
                        .findFirst(),
                ModelAgainstMeasurement::besideDenseReads,
                NOT_TOLD);
        if (measured.size() < 2 || curves.size() > Figures.MOST_CURVES) {
            return Optional.empty();
        }
        List<Series> series = CurveSeries.of(curves, "graph_mode", curve -> false).stream()
                .map(ModelAgainstMeasurement::marksAlone)
                .toList();
        List<String> notes = new ArrayList<>();
        notes.add(
                "A mark is a cell: counts of its trace are exact, its time is modelled from them and from the profile.");
        if (measured.stream().anyMatch(ModelAgainstMeasurement::besideDenseReads)) {
            notes.add("Hollow: beside a read of each layer's dense weights.");
        }
        notes.addAll(Caption.notes(table, measured, series, false));
        return Optional.of(new FigureData(
                "model-against-measurement",
                "Modelled against measured time of a decode forward",
                Caption.subtitle(measured),
                Axis.log2("measured time of a decode forward (ms, log scale)", Axis.Ticks.NUMBER),
                Axis.linear("modelled over measured time, less 1 (%)", Axis.Ticks.PERCENT),
                series,
                List.of(),
                List.of(
                        new FigureData.Hairline(BAND_PERCENT, "10 % slower than measured"),
                        new FigureData.Hairline(0, ""),
                        new FigureData.Hairline(-BAND_PERCENT, "10 % faster than measured")),
                notes));
    }

    private static boolean besideDenseReads(ResultsRow row) {
        return "dense".equals(Curves.cellKeys(row.text("cell")).get("rest"));
    }

    private static OptionalDouble time(ResultsRow row) {
        OptionalDouble millis = row.number("decode_ms_per_token");
        return millis.isPresent() && millis.getAsDouble() > 0 ? millis : OptionalDouble.empty();
    }

    private static Series marksAlone(Series line) {
        SeriesStyle style = line.style();
        return new Series(
                line.label(), new SeriesStyle(style.colour(), style.marker(), SeriesStyle.Dash.NONE), line.points());
    }
}
