package org.expertpool.plots;

/**
 * One point of a series: the median over repetitions and seeds, and their range.
 *
 * @param low the smallest repetition's value, {@code y} where there is one
 * @param high the largest repetition's value, {@code y} where there is one
 * @param repetitions how many rows stand behind it
 * @param hollow drawn as an outline: the configuration does not fit the memory
 * @param label text beside the point, empty for none
 * @param emphasised whether the label must be shown, and in bold
 */
record Point(
        double x,
        double y,
        double low,
        double high,
        int repetitions,
        boolean hollow,
        String label,
        boolean emphasised) {

    Point {
        if (!Double.isFinite(x) || !Double.isFinite(y) || !(low <= y && y <= high)) {
            throw new IllegalArgumentException("point (%s, %s in %s..%s)".formatted(x, y, low, high));
        }
    }

    /** A single value. */
    static Point of(double x, double y) {
        return new Point(x, y, y, y, 1, false, "", false);
    }

    Point labelled(String text, boolean bold) {
        return new Point(x, y, low, high, repetitions, hollow, text, bold);
    }
}
