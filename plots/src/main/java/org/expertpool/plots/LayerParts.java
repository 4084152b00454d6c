package org.expertpool.plots;

import java.awt.Color;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The time of a decode layer as a bar of its parts for each cell that {@code breakdown} took apart, with its floor. */
final class LayerParts {
    static final String TABLE = "breakdown";

    private static final int MOST_BARS = 24;

    private record Part(String name, Color colour) {}

    private static final List<Part> PARTS = List.of(
            new Part("dense", new Color(0x8A, 0x8A, 0x8A)),
            new Part("hits", HouseStyle.INK),
            new Part("planner", new Color(0xE6, 0x9F, 0x00)),
            new Part("copies", new Color(0x56, 0xB4, 0xE9)),
            new Part("launches", new Color(0x00, 0x9E, 0x73)),
            new Part("other", new Color(0xCC, 0x79, 0xA7)));

    private static final Color FLOOR = new Color(0xD5, 0x5E, 0x00);

    private LayerParts() {}

    /** What to draw of the table's lines, the first on top; none where there are none, or too many to tell apart. */
    static Optional<FigureData> of(ResultsTable results, List<ResultsRow> lines) {
        if (lines.isEmpty() || lines.size() > MOST_BARS) {
            return Optional.empty();
        }
        List<ResultsRow> upwards = new ArrayList<>();
        lines.forEach(line -> upwards.add(0, line));
        List<Series> series = new ArrayList<>();
        for (Part part : PARTS) {
            SeriesStyle style = new SeriesStyle(part.colour(), MarkerShape.SQUARE, SeriesStyle.Dash.BAR);
            series.add(new Series(part.name(), style, ends(upwards, part)));
        }
        List<Point> floors = new ArrayList<>();
        for (int i = 0; i < upwards.size(); i++) {
            floors.add(Point.of(value(upwards.get(i), "floor"), i));
        }
        series.add(new Series(
                "floor", new SeriesStyle(FLOOR, MarkerShape.CIRCLE, SeriesStyle.Dash.NONE), List.copyOf(floors)));
        List<String> notes =
                new ArrayList<>(List.of("Parts are differences of measurements: of cells, and of layers with"
                        + " imposed misses. Floor: dense reads and, of each layer call, the longer of its rows' time on the link"
                        + " and the resident layer."));
        notes.addAll(Caption.notes(results, DetailFigure.cells(lines), series, true));
        return Optional.of(new FigureData(
                "time-of-a-layer",
                "Where the time of a decode layer goes",
                Caption.subtitle(lines),
                Axis.linear("microseconds a layer", Axis.Ticks.NUMBER),
                Axis.ofBars("cell", upwards.stream().map(LayerParts::label).toList()),
                List.copyOf(series),
                List.of(),
                List.of(),
                notes));
    }

    /** Ends of a part's bars: all parts up to it. */
    private static List<Point> ends(List<ResultsRow> lines, Part last) {
        List<Point> ends = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            double end = 0;
            for (Part part : PARTS) {
                end += value(lines.get(i), part.name());
                if (part.equals(last)) {
                    break;
                }
            }
            ends.add(Point.of(end, i));
        }
        return List.copyOf(ends);
    }

    private static double value(ResultsRow line, String part) {
        return line.number(part + "_us").orElse(0);
    }

    private static String label(ResultsRow line) {
        String rows = line.text("rows_per_layer");
        String words = rows.isEmpty() ? "all resident" : "N = " + rows;
        words += line.text("note").contains("dense") ? ", dense reads" : "";
        return words + (line.text("graph_mode").equals("none") ? ", no graph" : "");
    }
}
