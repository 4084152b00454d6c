package org.expertpool.plots;

import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.Line2D;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The legend, in as many columns as its longest label allows, outside the plot so that it hides nothing. */
final class Legend {
    private static final int LINE = 19;
    private static final int SWATCH = 32;
    private static final int GAP = 8;
    private static final int COLUMN_GAP = 24;
    private static final Font FONT = Text.font(Font.PLAIN, 11.5f);

    /** A line of the legend; without a style it continues the label above. */
    private record Entry(String label, Optional<SeriesStyle> style, boolean hollow) {}

    private final List<Entry> entries = new ArrayList<>();
    private final double width;
    private final int columns;

    Legend(FigureData figure, double width) {
        this.width = width;
        for (Series series : figure.series()) {
            List<String> lines = Text.wrap(series.label(), FONT, width - SWATCH - GAP);
            entries.add(new Entry(lines.get(0), Optional.of(series.style()), false));
            lines.stream().skip(1).forEach(line -> entries.add(new Entry(line, Optional.empty(), false)));
        }
        // Some figures mean something else by it, and say so below.
        boolean said = figure.notes().stream().anyMatch(note -> note.startsWith("Hollow:"));
        if (!said
                && figure.series().stream()
                        .flatMap(series -> series.points().stream())
                        .anyMatch(Point::hollow)) {
            SeriesStyle mark = new SeriesStyle(HouseStyle.QUIET, MarkerShape.CIRCLE, SeriesStyle.Dash.NONE);
            entries.add(new Entry("hollow: N does not fit the memory", Optional.of(mark), true));
        }
        double widest = entries.stream()
                .mapToDouble(entry -> SWATCH + GAP + COLUMN_GAP + Text.width(entry.label(), FONT))
                .max()
                .orElse(width);
        this.columns = Math.max(1, (int) (width / widest));
    }

    int height() {
        return (entries.size() + columns - 1) / columns * LINE;
    }

    /** Paints with the upper left corner at left, top. */
    void paint(Graphics2D g, double left, double top) {
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            int line = i / columns;
            double x = left + i % columns * width / columns;
            double y = top + line * LINE + 8.0;
            entry.style().ifPresent(style -> swatch(g, style, entry.hollow(), x, y));
            Text.draw(g, entry.label(), FONT, HouseStyle.INK, x + SWATCH + GAP, y + 4);
        }
    }

    private static void swatch(Graphics2D g, SeriesStyle style, boolean hollow, double x, double y) {
        if (style.isLine()) {
            g.setColor(style.colour());
            g.setStroke(ChartPainter.stroke(style.dash()));
            g.draw(new Line2D.Double(x, y, x + SWATCH, y));
        }
        ChartPainter.paintMarker(g, style, x + SWATCH / 2.0, y, hollow);
    }
}
