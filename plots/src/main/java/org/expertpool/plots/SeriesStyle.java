package org.expertpool.plots;

import java.awt.Color;

/**
 * How a series looks, so that it can be told apart by colour, by marker, and by dash.
 *
 * @param dash the line, {@code NONE} for marks that no line joins
 */
record SeriesStyle(Color colour, MarkerShape marker, Dash dash) {
    /** Line patterns; lengths are in units of the page. */
    enum Dash {
        NONE,
        SOLID,
        LONG,
        SHORT,
        DASH_DOT;

        /** On and off lengths, null for an unbroken line as strokes want it. */
        float[] patternOrNull() {
            return switch (this) {
                case NONE, SOLID -> null;
                case LONG -> new float[] {9, 4};
                case SHORT -> new float[] {3, 3};
                case DASH_DOT -> new float[] {8, 3, 2, 3};
            };
        }
    }
}
