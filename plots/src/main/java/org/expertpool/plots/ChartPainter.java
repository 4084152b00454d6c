package org.expertpool.plots;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.Line2D;
import java.awt.geom.Point2D;
import java.awt.geom.Rectangle2D;
import java.util.Comparator;
import java.util.List;

/** Paints the plot of a figure: axes and lines, and over them hairlines, ranges, markers and labels. */
final class ChartPainter {
    private static final double MARKER_RADIUS = 3.6;
    private static final double REPORTED_RADIUS = 5;
    private static final Font LABEL = Text.font(Font.PLAIN, 9.5f);
    private static final Font BOLD_LABEL = Text.font(Font.BOLD, 10.5f);

    private static final int VERTICAL_NAME_LEVELS = 2;

    private final FigureData figure;
    private final AxesChart axes;

    ChartPainter(FigureData figure, int width, int height) {
        this.figure = figure;
        this.axes = new AxesChart(figure, width, height);
    }

    static BasicStroke stroke(SeriesStyle.Dash dash) {
        return new BasicStroke(2, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 10, dash.patternOrNull(), 0);
    }

    /** Paints at the origin of the graphics; names of vertical hairlines go above it. */
    void paint(Graphics2D g) {
        Rectangle2D plot = axes.paint(g);
        LabelPlacer placer = new LabelPlacer(plot);
        figure.verticals().forEach(line -> verticalHairline(g, plot, placer, line.value()));
        figure.series().forEach(series -> avoid(placer, series));
        Bars bars = new Bars(figure, axes);
        bars.paint(g);
        figure.series().stream()
                .filter(series -> series.style().dash() != SeriesStyle.Dash.BAR)
                .forEach(series -> paintMarkers(g, series));
        figure.horizontals().forEach(line -> horizontal(g, plot, placer, line));
        paintLabels(g, placer, true);
        paintLabels(g, placer, false);
        paintVerticalNames(g, plot);
        bars.paintNames(g, plot);
    }

    private Point2D screen(Point point) {
        return new Point2D.Double(axes.screenX(point.x()), axes.screenY(point.y()));
    }

    private void avoid(LabelPlacer placer, Series series) {
        List<Point> points = series.points();
        for (int i = 0; i < points.size(); i++) {
            Point2D at = screen(points.get(i));
            placer.avoidMarker(at.getX(), at.getY(), radius(series) + 1);
            if (i > 0 && series.style().isLine()) {
                placer.avoidLine(new Line2D.Double(screen(points.get(i - 1)), at));
            }
        }
    }

    private static double radius(Series series) {
        return series.style().dash() == SeriesStyle.Dash.NONE ? REPORTED_RADIUS : MARKER_RADIUS;
    }

    private void paintMarkers(Graphics2D g, Series series) {
        for (Point point : series.points()) {
            Point2D at = screen(point);
            if (point.low() < point.high()) {
                g.setColor(series.style().colour());
                g.setStroke(new BasicStroke(1.2f));
                g.draw(new Line2D.Double(at.getX(), axes.screenY(point.low()), at.getX(), axes.screenY(point.high())));
            }
            paintMarker(g, series.style(), at.getX(), at.getY(), point.hollow());
        }
    }

    /** One marker of a series, as in the plot so in the legend. */
    static void paintMarker(Graphics2D g, SeriesStyle style, double x, double y, boolean hollow) {
        boolean reported = !style.isLine();
        var shape = style.marker().at(x, y, reported ? REPORTED_RADIUS : MARKER_RADIUS);
        g.setColor(hollow ? Color.WHITE : style.colour());
        g.fill(shape);
        g.setColor(hollow ? style.colour() : Color.WHITE);
        g.setStroke(new BasicStroke(hollow ? 1.4f : .7f));
        g.draw(shape);
    }

    private static void hairline(Graphics2D g, double x1, double y1, double x2, double y2) {
        g.setColor(HouseStyle.HAIRLINE);
        g.setStroke(new BasicStroke(1, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 10, new float[] {5, 3}, 0));
        g.draw(new Line2D.Double(x1, y1, x2, y2));
    }

    private void verticalHairline(Graphics2D g, Rectangle2D plot, LabelPlacer placer, double value) {
        double x = axes.screenX(value);
        hairline(g, x, plot.getMinY(), x, plot.getMaxY());
        placer.avoidLine(new Line2D.Double(x, plot.getMinY(), x, plot.getMaxY()));
    }

    private void horizontal(Graphics2D g, Rectangle2D plot, LabelPlacer placer, FigureData.Hairline line) {
        double y = axes.screenY(line.value());
        hairline(g, plot.getMinX(), y, plot.getMaxX(), y);
        double width = Text.width(line.label(), LABEL);
        label(g, placer.placeAlong(y, width, 13), line.label(), LABEL, HouseStyle.INK);
        placer.avoidLine(new Line2D.Double(plot.getMinX(), y, plot.getMaxX(), y));
    }

    /** Labels from the top down, so that those beside points in a column keep their order; reported series take sides. */
    private void paintLabels(Graphics2D g, LabelPlacer placer, boolean emphasised) {
        LabelPlacer.Leaning side = LabelPlacer.Leaning.LEFT;
        for (Series series : figure.series()) {
            boolean reported = series.style().dash() == SeriesStyle.Dash.NONE;
            LabelPlacer.Leaning leaning = reported ? side : LabelPlacer.Leaning.UP;
            if (reported) {
                side = side == LabelPlacer.Leaning.LEFT ? LabelPlacer.Leaning.RIGHT : LabelPlacer.Leaning.LEFT;
            }
            series.points().stream()
                    .filter(point -> !point.label().isEmpty() && point.emphasised() == emphasised)
                    .sorted(Comparator.comparingDouble(Point::y).reversed())
                    .forEach(point -> paintLabel(g, placer, series, point, leaning));
        }
    }

    private void paintLabel(Graphics2D g, LabelPlacer placer, Series series, Point point, LabelPlacer.Leaning leaning) {
        Font font = point.emphasised() ? BOLD_LABEL : LABEL;
        Point2D at = screen(point);
        placer.place(at, Text.width(point.label(), font), 13, leaning, point.emphasised())
                .ifPresent(box -> {
                    LabelPlacer.leader(at, box).ifPresent(line -> {
                        g.setColor(HouseStyle.HAIRLINE);
                        g.setStroke(new BasicStroke(.7f));
                        g.draw(line);
                        placer.avoidLine(line);
                    });
                    label(g, box, point.label(), font, series.style().colour());
                });
    }

    private static void label(Graphics2D g, Rectangle2D box, String text, Font font, Color colour) {
        g.setColor(new Color(255, 255, 255, 205));
        g.fill(box);
        Text.draw(g, text, font, colour.darker(), box.getMinX(), box.getMaxY() - 3);
    }

    private void paintVerticalNames(Graphics2D g, Rectangle2D plot) {
        double[] takenTo = new double[VERTICAL_NAME_LEVELS];
        for (FigureData.Hairline line : figure.verticals()) {
            double width = Text.width(line.label(), BOLD_LABEL);
            double left = Math.min(axes.screenX(line.value()) - width / 2, plot.getMaxX() + 10 - width);
            int level = 0;
            while (level < takenTo.length - 1 && left < takenTo[level]) {
                level++;
            }
            takenTo[level] = left + width + 6;
            Text.draw(g, line.label(), BOLD_LABEL, HouseStyle.INK, left, plot.getMinY() - 5 - 13.0 * level);
        }
    }
}
