package org.expertpool.plots;

import java.util.List;

/** Points that belong together, ascending in x, with the name and style the legend shows. */
record Series(String label, SeriesStyle style, List<Point> points) {
    Series {
        points = List.copyOf(points);
    }
}
