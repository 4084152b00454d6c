package org.expertpool.plots;

import java.util.List;

/** Points that belong together, ascending in x, with the name and style the legend shows. */
record Series(String label, SeriesStyle style, List<Point> points) {
    /** How labels of series begin that show figures reported elsewhere. */
    static final String REPORTED = "reported, ";

    Series {
        points = List.copyOf(points);
    }

    boolean reported() {
        return label.startsWith(REPORTED);
    }
}
