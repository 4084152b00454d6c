package org.expertpool.plots;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** XChart's part of a plot: axes, grid and lines, and where a value lies on the page. Markers are drawn over it. */
final class AxesChart {
    /** Room around the chart, so that the outermost tick labels are drawn at all. */
    static final int PADDING = 14;

    private final FigureData figure;
    private final XYChart chart;
    private final AxisRange xRange;
    private final AxisRange yRange;

    AxesChart(FigureData figure, int width, int height) {
        this.figure = figure;
        this.xRange = AxisRange.ofX(figure, plotWidth(width));
        this.yRange = AxisRange.ofY(figure);
        this.chart = chart(width, height);
    }

    /** About how wide the plot will be, which is known only once the ticks of y are. */
    private static int plotWidth(int width) {
        return width - 100;
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
                .tickSpacing(plotWidth(width), xRange.length(), figure.x().shareOf() > 0 ? 92 : 60));
        style.setYAxisTickMarkSpacingHint(figure.y().tickSpacing(height - 70, yRange.length(), 44));
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
                series.style().isLine() ? ChartPainter.stroke(series.style().dash()) : SeriesLines.NONE);
    }

    private static double[] positions(Series series, Axis axis, ToDoubleFunction<Point> value) {
        return series.points().stream()
                .mapToDouble(point -> axis.position(value.applyAsDouble(point)))
                .toArray();
    }

    /** Paints at the origin and returns the rectangle between the axes. */
    Rectangle2D paint(Graphics2D g) {
        chart.paint(g, chart.getWidth(), chart.getHeight());
        g.setClip(null);
        return plot();
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

    double screenX(double x) {
        return chart.getScreenXFromChart(figure.x().position(x));
    }

    double screenY(double y) {
        return chart.getScreenYFromChart(figure.y().position(y));
    }
}
