package org.expertpool.plots;

import java.util.List;

/**
 * What a figure shows, free of drawing: a pure function of the results table.
 *
 * @param name the file name without its ending
 * @param subtitle what all series share
 * @param verticals hairlines across the plot at an x, named above it
 * @param horizontals lines across the plot at a y, named on them
 * @param notes lines of the caption
 */
record FigureData(
        String name,
        String title,
        String subtitle,
        Axis x,
        Axis y,
        List<Series> series,
        List<Hairline> verticals,
        List<Hairline> horizontals,
        List<String> notes) {

    /** A named line at one value of an axis. */
    record Hairline(double value, String label) {}

    FigureData {
        series = List.copyOf(series);
        verticals = List.copyOf(verticals);
        horizontals = List.copyOf(horizontals);
        notes = List.copyOf(notes);
    }
}
