package org.expertpool.plots;

import java.awt.Color;

/**
 * How a series looks, so that it can be told apart by colour, by marker, and by dash.
 *
 * @param dash the line, {@code NONE} for marks that no line joins, {@code BAR} for ends of bars along x
 */
record SeriesStyle(Color colour, MarkerShape marker, Dash dash) {
    /** Whether a line joins the points. */
    boolean isLine() {
        return dash != Dash.NONE && dash != Dash.BAR;
    }

    /** Line patterns; lengths are in units of the page. */
    enum Dash {
        NONE,
        BAR,
        SOLID,
        LONG,
        SHORT,
        DASH_DOT;

        /** On and off lengths, null for an unbroken line as strokes want it. */
        float[] patternOrNull() {
            return switch (this) {
                case NONE, BAR, SOLID -> null;
                case LONG -> new float[] {9, 4};
                case SHORT -> new float[] {3, 3};
                case DASH_DOT -> new float[] {8, 3, 2, 3};
            };
        }
    }
}
