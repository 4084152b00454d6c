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
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Paints the plot of a figure: XChart draws axes, grid and lines; over it come hairlines, ranges, markers and labels,
 * which XChart can't place or leave hollow.
 */
final class ChartPainter {
    /** Room around the chart, so that the outermost tick labels are drawn at all. */
    static final int PADDING = 14;

    private static final double MARKER_RADIUS = 3.6;
    private static final double REPORTED_RADIUS = 5;
    private static final Font LABEL = Text.font(Font.PLAIN, 9.5f);
    private static final Font BOLD_LABEL = Text.font(Font.BOLD, 10.5f);

    private final FigureData figure;
    private final XYChart chart;
    private final Range xRange;
    private final Range yRange;

    private record Range(double min, double max) {}

    ChartPainter(FigureData figure, int width, int height) {
        this.figure = figure;
        this.xRange = xRange(figure);
        this.yRange = yRange(figure);
        this.chart = chart(width, height);
    }

    private XYChart chart(int width, int height) {
        XYChart made = new XYChart(width, height);
        made.setXAxisTitle(figure.x().title());
        made.setYAxisTitle(figure.y().title());
        XYStyler style = made.getStyler();
        style.setChartBackgroundColor(Color.WHITE).setPlotBackgroundColor(Color.WHITE);
        style.setPlotBorderVisible(false).setLegendVisible(false).setChartTitleVisible(false);
        style.setChartPadding(PADDING).setPlotContentSize(1);
        style.setPlotMargin(0).setAxisTitleFont(Text.font(Font.PLAIN, 12.5f));
        style.setAxisTickLabelsFont(Text.font(Font.PLAIN, 11)).setAxisTickLabelsColor(HouseStyle.INK);
        style.setPlotGridLinesColor(HouseStyle.GRID).setPlotGridLinesStroke(new BasicStroke(.8f));
        style.setAxisTickMarksColor(HouseStyle.QUIET).setAxisTickMarksStroke(new BasicStroke(.8f));
        style.setXAxisTickMarkSpacingHint(figure.x()
                .tickSpacing(
                        width - 100, xRange.max() - xRange.min(), figure.x().shareOf() > 0 ? 92 : 60));
        style.setYAxisTickMarkSpacingHint(figure.y().tickSpacing(height - 70, yRange.max() - yRange.min(), 44));
        style.setYAxisLabelAlignment(AxesChartStyler.TextAlignment.Right);
        style.setXAxisMin(xRange.min()).setXAxisMax(xRange.max());
        style.setYAxisMin(yRange.min()).setYAxisMax(yRange.max());
        style.setXAxisTickLabelsFormattingFunction(figure.x()::tickText);
        style.setYAxisTickLabelsFormattingFunction(figure.y()::tickText);
        for (int i = 0; i < figure.series().size(); i++) {
            addLine(made, Integer.toString(i), figure.series().get(i));
        }
        return made;
    }

    private void addLine(XYChart made, String name, Series series) {
        double[] xs = positions(series, figure.x(), Point::x);
        double[] ys = positions(series, figure.y(), Point::y);
        XYSeries line = made.addSeries(name, xs, ys);
        line.setMarker(SeriesMarkers.NONE);
        line.setLineColor(series.style().colour());
        line.setLineStyle(
                series.style().dash() == SeriesStyle.Dash.NONE
                        ? SeriesLines.NONE
                        : stroke(series.style().dash()));
    }

    private static double[] positions(Series series, Axis axis, ToDoubleFunction<Point> value) {
        return series.points().stream()
                .mapToDouble(point -> axis.position(value.applyAsDouble(point)))
                .toArray();
    }

    static BasicStroke stroke(SeriesStyle.Dash dash) {
        return new BasicStroke(2, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 10, dash.patternOrNull(), 0);
    }

    /** Paints at the origin of the graphics; names of vertical hairlines go above it. */
    void paint(Graphics2D g) {
        chart.paint(g, chart.getWidth(), chart.getHeight());
        g.setClip(null);
        Rectangle2D plot = plot();
        LabelPlacer placer = new LabelPlacer(plot);
        figure.verticals().forEach(line -> verticalHairline(g, plot, placer, line.value()));
        figure.series().forEach(series -> avoid(placer, series));
        figure.series().forEach(series -> paintMarkers(g, series));
        figure.horizontals().forEach(line -> horizontal(g, plot, placer, line));
        paintLabels(g, placer, true);
        paintLabels(g, placer, false);
        paintVerticalNames(g, plot);
    }

    private Rectangle2D plot() {
        double left = chart.getScreenXFromChart(xRange.min());
        double top = chart.getScreenYFromChart(yRange.max());
        return new Rectangle2D.Double(
                left,
                top,
                chart.getScreenXFromChart(xRange.max()) - left,
                chart.getScreenYFromChart(yRange.min()) - top);
    }

    private double screenX(double x) {
        return chart.getScreenXFromChart(figure.x().position(x));
    }

    private double screenY(double y) {
        return chart.getScreenYFromChart(figure.y().position(y));
    }

    private Point2D screen(Point point) {
        return new Point2D.Double(screenX(point.x()), screenY(point.y()));
    }

    private void avoid(LabelPlacer placer, Series series) {
        List<Point> points = series.points();
        for (int i = 0; i < points.size(); i++) {
            Point2D at = screen(points.get(i));
            placer.avoidMarker(at.getX(), at.getY(), radius(series) + 1);
            if (i > 0 && series.style().dash() != SeriesStyle.Dash.NONE) {
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
                g.draw(new Line2D.Double(at.getX(), screenY(point.low()), at.getX(), screenY(point.high())));
            }
            paintMarker(g, series.style(), at.getX(), at.getY(), point.hollow());
        }
    }

    /** One marker of a series, as in the plot so in the legend. */
    static void paintMarker(Graphics2D g, SeriesStyle style, double x, double y, boolean hollow) {
        boolean reported = style.dash() == SeriesStyle.Dash.NONE;
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
        double x = screenX(value);
        hairline(g, x, plot.getMinY(), x, plot.getMaxY());
        placer.avoidLine(new Line2D.Double(x, plot.getMinY(), x, plot.getMaxY()));
    }

    private void horizontal(Graphics2D g, Rectangle2D plot, LabelPlacer placer, FigureData.Hairline line) {
        double y = screenY(line.value());
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
                    leader(g, placer, at, box);
                    label(g, box, point.label(), font, series.style().colour());
                });
    }

    /** A thin line from a label to its point where they lie apart. */
    private static void leader(Graphics2D g, LabelPlacer placer, Point2D point, Rectangle2D box) {
        double x = Math.max(box.getMinX(), Math.min(point.getX(), box.getMaxX()));
        double y = Math.max(box.getMinY(), Math.min(point.getY(), box.getMaxY()));
        double distance = point.distance(x, y);
        if (distance > 16) {
            double clear = (REPORTED_RADIUS + 3) / distance;
            g.setColor(HouseStyle.HAIRLINE);
            g.setStroke(new BasicStroke(.7f));
            Line2D line = new Line2D.Double(
                    point.getX() + clear * (x - point.getX()), point.getY() + clear * (y - point.getY()), x, y);
            g.draw(line);
            placer.avoidLine(line);
        }
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
            double left = Math.min(screenX(line.value()) - width / 2, plot.getMaxX() + 10 - width);
            int level = 0;
            while (level < takenTo.length - 1 && left < takenTo[level]) {
                level++;
            }
            takenTo[level] = left + width + 6;
            Text.draw(g, line.label(), BOLD_LABEL, HouseStyle.INK, left, plot.getMinY() - 5 - 13.0 * level);
        }
    }

    private static final int VERTICAL_NAME_LEVELS = 2;

    private static Range xRange(FigureData figure) {
        Axis axis = figure.x();
        if (!axis.categories().isEmpty()) {
            return new Range(-.5, axis.categories().size() - .5);
        }
        double[] all = DoubleStream.concat(
                        figure.series().stream()
                                .flatMap(series -> series.points().stream())
                                .mapToDouble(point -> axis.position(point.x())),
                        figure.verticals().stream().mapToDouble(line -> axis.position(line.value())))
                .sorted()
                .toArray();
        double min = all[0];
        double max = all[all.length - 1];
        double pad = max > min ? .03 * (max - min) : .5;
        boolean fromZero = axis.scale() == Axis.Scale.LINEAR && min >= 0 && min < .2 * max;
        return fromZero ? withEdgeTicks(0, max + pad) : new Range(min - pad, max + pad);
    }

    private static Range yRange(FigureData figure) {
        Axis axis = figure.y();
        double[] all = DoubleStream.concat(
                        figure.series().stream()
                                .flatMap(series -> series.points().stream())
                                .flatMapToDouble(point -> DoubleStream.of(point.low(), point.high())),
                        figure.horizontals().stream().mapToDouble(FigureData.Hairline::value))
                .map(axis::position)
                .sorted()
                .toArray();
        double min = all[0];
        double max = all[all.length - 1];
        if (axis.scale() == Axis.Scale.LOG2) {
            return new Range(min - .2, max + .2);
        }
        if (axis.ticks() == Axis.Ticks.RATIO) {
            return withEdgeTicks(Math.floor(10 * min) / 10, 1);
        }
        double top = max > 0 ? max * 1.1 : 1;
        return withEdgeTicks(Math.min(0, min * 1.1), top);
    }

    /** A range a hair wider than wanted: XChart draws no tick that lies right on an end. */
    private static Range withEdgeTicks(double min, double max) {
        double hair = .002 * (max - min);
        return new Range(min - hair, max + hair);
    }
}
