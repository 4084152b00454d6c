package org.expertpool.plots;

import java.awt.Shape;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;

/** Marker outlines; all have about the same ink at the same radius. */
enum MarkerShape {
    CIRCLE,
    SQUARE,
    DIAMOND,
    TRIANGLE_UP,
    TRIANGLE_DOWN,
    STAR,
    CROSS,
    PLUS;

    /** The closed outline around a centre. */
    Shape at(double x, double y, double radius) {
        return switch (this) {
            case CIRCLE -> new Ellipse2D.Double(x - radius, y - radius, 2 * radius, 2 * radius);
            case SQUARE -> new Rectangle2D.Double(x - .88 * radius, y - .88 * radius, 1.76 * radius, 1.76 * radius);
            case DIAMOND -> polygon(x, y, radius * 1.25, 4, 1, -90);
            case TRIANGLE_UP -> polygon(x, y, radius * 1.25, 3, 1, -90);
            case TRIANGLE_DOWN -> polygon(x, y, radius * 1.25, 3, 1, 90);
            case STAR -> polygon(x, y, radius * 1.5, 5, .45, -90);
            case CROSS -> polygon(x, y, radius * 1.4, 4, .3, -45);
            case PLUS -> polygon(x, y, radius * 1.4, 4, .3, -90);
        };
    }

    /** A polygon of so many tips, with its inner corners at a fraction of the radius (1: none). */
    private static Shape polygon(double x, double y, double radius, int tips, double inner, double firstDegrees) {
        Path2D path = new Path2D.Double();
        int corners = inner == 1 ? tips : 2 * tips;
        for (int i = 0; i < corners; i++) {
            double angle = Math.toRadians(firstDegrees + 360.0 * i / corners);
            double r = inner == 1 || i % 2 == 0 ? radius : radius * inner;
            double px = x + r * Math.cos(angle);
            double py = y + r * Math.sin(angle);
            if (i == 0) {
                path.moveTo(px, py);
            } else {
                path.lineTo(px, py);
            }
        }
        path.closePath();
        return path;
    }
}
