package org.expertpool.plots;

import java.util.List;
import java.util.Map;

/** The points of rows that agree in every dimension but x, repetition and seed. */
record Curve(Map<String, String> key, List<Point> points) {
    Curve {
        key = Map.copyOf(key);
        points = List.copyOf(points);
    }

    String value(String dimension) {
        return key.getOrDefault(dimension, "");
    }

    /** Whether both go through the same points, to a millionth: drawn twice, one would hide the other. */
    boolean coincidesWith(Curve other) {
        if (points.size() != other.points.size()) {
            return false;
        }
        for (int i = 0; i < points.size(); i++) {
            Point mine = points.get(i);
            Point theirs = other.points.get(i);
            if (mine.x() != theirs.x() || Math.abs(mine.y() - theirs.y()) > 1e-6 * Math.abs(mine.y())) {
                return false;
            }
        }
        return true;
    }
}
