package org.expertpool.plots;

import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.util.List;

/**
 * Bars along x, one at each y: a series' bar begins where that of the series before it ends, the first at zero. Names of the
 * y stand where the bars end, or on them where no room is left.
 */
final class Bars {
    private static final double THICKNESS = .7;

    private static final Font NAME = Text.font(Font.PLAIN, 10.5f);

    private static final double GAP = 6;

    private final List<String> names;
    private final List<Series> series;
    private final AxesChart axes;

    Bars(FigureData figure, AxesChart axes) {
        this.axes = axes;
        names = figure.y().names();
        series = bars(figure);
    }

    private static List<Series> bars(FigureData figure) {
        return figure.series().stream()
                .filter(one -> one.style().dash() == SeriesStyle.Dash.BAR)
                .toList();
    }

    /** Where x must end for names of at most half the plot's width, in pixels, to stand beside their bars; 0 without bars. */
    static double endOfNames(FigureData figure, double plotWidth) {
        double most = 0;
        List<Series> bars = bars(figure);
        List<String> names = figure.y().names();
        for (int i = 0; i < names.size(); i++) {
            double room = 2 * GAP + Text.width(names.get(i), NAME);
            double end = end(bars, i);
            most = Math.max(most, room > plotWidth / 2 ? end : end / (1 - room / plotWidth));
        }
        return most;
    }

    private static double end(List<Series> series, int bar) {
        return series.stream()
                .mapToDouble(one -> one.points().get(bar).x())
                .max()
                .orElse(0);
    }

    void paint(Graphics2D g) {
        double half = THICKNESS / 2 * Math.abs(axes.screenY(1) - axes.screenY(0));
        for (int i = 0; i < series.size(); i++) {
            g.setColor(series.get(i).style().colour());
            for (int j = 0; j < series.get(i).points().size(); j++) {
                Point end = series.get(i).points().get(j);
                double from = i == 0 ? 0 : series.get(i - 1).points().get(j).x();
                double left = axes.screenX(Math.min(from, end.x()));
                double right = axes.screenX(Math.max(from, end.x()));
                g.fill(new Rectangle2D.Double(left, axes.screenY(end.y()) - half, right - left, 2 * half));
            }
        }
    }

    /** After everything else, so that nothing hides them. */
    void paintNames(Graphics2D g, Rectangle2D plot) {
        for (int i = 0; i < names.size() && !series.isEmpty(); i++) {
            double end = axes.screenX(end(series, i));
            double width = Text.width(names.get(i), NAME);
            double left = end + GAP + width < plot.getMaxX() ? end + GAP : end - GAP - width;
            Text.draw(g, names.get(i), NAME, HouseStyle.INK, left, axes.screenY(i) + 4);
        }
    }
}
