package org.expertpool.plots;

import java.awt.geom.Line2D;
import java.awt.geom.Point2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds places for labels near their points: inside the plot, off other labels, markers and lines. */
final class LabelPlacer {
    private static final double[] DISTANCES = {9, 14, 22, 32, 46, 64};

    /** Which way from its point a label goes if it can. */
    enum Leaning {
        UP,
        LEFT,
        RIGHT;

        /** Directions in degrees, clockwise from the right, the liked ones first. */
        int[] directions() {
            return switch (this) {
                case UP -> new int[] {-90, -45, -135, 0, 180, 90, 45, 135};
                case LEFT -> new int[] {180, -135, 135, -90, 90, -45, 45, 0};
                case RIGHT -> new int[] {0, -45, 45, -90, 90, -135, 135, 180};
            };
        }
    }

    private static final double LEADER_FROM = 16;
    private static final double CLEAR_OF_MARKER = 8;
    private static final double OUTSIDE = 100_000;
    private static final double ON_LABEL = 10_000;
    private static final double ON_MARKER = 120;
    private static final double ON_LINE = 16;
    private static final double OPTIONAL_BUDGET = 8;

    private final Rectangle2D plot;
    private final List<Rectangle2D> labels = new ArrayList<>();
    private final List<Rectangle2D> markers = new ArrayList<>();
    private final List<Line2D> lines = new ArrayList<>();

    LabelPlacer(Rectangle2D plot) {
        this.plot = plot;
    }

    void avoidMarker(double x, double y, double radius) {
        markers.add(new Rectangle2D.Double(x - radius, y - radius, 2 * radius, 2 * radius));
    }

    void avoidLine(Line2D line) {
        lines.add(line);
    }

    /**
     * A place for a label of the given size, which from then on is taken.
     *
     * @param required if so, the least bad place is taken; if not, only one right at the point that hides nothing
     */
    Optional<Rectangle2D> place(Point2D point, double width, double height, Leaning leaning, boolean required) {
        int[] directions = leaning.directions();
        Rectangle2D best = null;
        double bestCost = required ? Double.MAX_VALUE : OPTIONAL_BUDGET;
        for (double distance : DISTANCES) {
            for (int i = 0; i < directions.length; i++) {
                Rectangle2D box = boxAt(point, distance, directions[i], width, height);
                double cost = cost(box) + leaderCost(point, box) + distance - DISTANCES[0] + .8 * i;
                if (cost < bestCost) {
                    best = box;
                    bestCost = cost;
                }
            }
        }
        if (best != null) {
            labels.add(best);
        }
        return Optional.ofNullable(best);
    }

    /** A place for the name of a horizontal line: over or under it, wherever along it hides least. */
    Rectangle2D placeAlong(double y, double width, double height) {
        Rectangle2D best = null;
        double bestCost = Double.MAX_VALUE;
        for (int step = 0; step <= 20; step++) {
            double x = plot.getMaxX() - 4 - width - step * (plot.getWidth() - 8 - width) / 20;
            for (double top : new double[] {y - 2 - height, y + 2}) {
                Rectangle2D box = new Rectangle2D.Double(x, top, width, height);
                double cost = cost(box) + step;
                if (cost < bestCost) {
                    best = box;
                    bestCost = cost;
                }
            }
        }
        labels.add(best);
        return best;
    }

    /** The box whose nearest edge or corner lies at a distance from the point, in a direction. */
    private static Rectangle2D boxAt(Point2D point, double distance, int degrees, double width, double height) {
        double dx = Math.rint(Math.cos(Math.toRadians(degrees)) * 2) / 2;
        double dy = Math.rint(Math.sin(Math.toRadians(degrees)) * 2) / 2;
        double scale = Math.abs(dx) > 0 && Math.abs(dy) > 0 ? .7 : 1;
        double x = point.getX() + Math.signum(dx) * distance * scale - width * (1 - Math.signum(dx)) / 2;
        double y = point.getY() + Math.signum(dy) * distance * scale - height * (1 - Math.signum(dy)) / 2;
        return new Rectangle2D.Double(x, y, width, height);
    }

    private double cost(Rectangle2D box) {
        double cost = plot.contains(box) ? 0 : OUTSIDE;
        cost += ON_LABEL * labels.stream().filter(box::intersects).count();
        cost += ON_MARKER * markers.stream().filter(box::intersects).count();
        return cost
                + ON_LINE * lines.stream().filter(line -> line.intersects(box)).count();
    }

    /** What the leader of a label there would cross: a label or marker on its way would take it for its own. */
    private double leaderCost(Point2D point, Rectangle2D box) {
        return leader(point, box).map(line -> leaderCost(point, line)).orElse(0.0);
    }

    private double leaderCost(Point2D point, Line2D line) {
        long onLabels = labels.stream().filter(line::intersects).count();
        long onMarkers = markers.stream()
                .filter(marker -> !marker.contains(point) && line.intersects(marker))
                .count();
        return ON_MARKER * (onLabels + onMarkers);
    }

    /** The line from a point to the nearest edge of its label, where they lie so far apart that one is needed. */
    static Optional<Line2D> leader(Point2D point, Rectangle2D box) {
        double x = Math.max(box.getMinX(), Math.min(point.getX(), box.getMaxX()));
        double y = Math.max(box.getMinY(), Math.min(point.getY(), box.getMaxY()));
        double distance = point.distance(x, y);
        if (distance <= LEADER_FROM) {
            return Optional.empty();
        }
        double clear = CLEAR_OF_MARKER / distance;
        return Optional.of(new Line2D.Double(
                point.getX() + clear * (x - point.getX()), point.getY() + clear * (y - point.getY()), x, y));
    }
}
