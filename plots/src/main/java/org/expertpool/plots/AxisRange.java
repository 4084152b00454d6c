package org.expertpool.plots;

import java.util.stream.DoubleStream;

/** The stretch of an axis that a figure shows, in axis positions: all points and lines, from zero where that is near. */
record AxisRange(double min, double max) {
    double length() {
        return max - min;
    }

    /** @param plotWidth about how wide the plot will be, in pixels */
    static AxisRange ofX(FigureData figure, double plotWidth) {
        Axis axis = figure.x();
        if (!axis.categories().isEmpty()) {
            return new AxisRange(-.5, axis.categories().size() - .5);
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
        boolean fromZero = axis.scale() == Axis.Scale.LINEAR && min >= 0 && (hasBars(figure) || min < .2 * max);
        return fromZero
                ? withEdgeTicks(0, Math.max(max + pad, Bars.endOfNames(figure, plotWidth)))
                : new AxisRange(min - pad, max + pad);
    }

    private static boolean hasBars(FigureData figure) {
        return figure.series().stream().anyMatch(one -> one.style().dash() == SeriesStyle.Dash.BAR);
    }

    static AxisRange ofY(FigureData figure) {
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
        if (hasBars(figure)) {
            return new AxisRange(min - .5, max + .5);
        }
        if (axis.scale() == Axis.Scale.LOG2) {
            return new AxisRange(min - .2, max + .2);
        }
        if (axis.ticks() == Axis.Ticks.RATIO) {
            return withEdgeTicks(Math.min(.9, Math.floor(10 * min) / 10), 1);
        }
        double top = max > 0 ? max * 1.1 : 1;
        return withEdgeTicks(Math.min(0, min * 1.1), top);
    }

    /** A range a hair wider than wanted: XChart draws no tick that lies right on an end. */
    private static AxisRange withEdgeTicks(double min, double max) {
        double hair = .002 * (max - min);
        return new AxisRange(min - hair, max + hair);
    }
}
