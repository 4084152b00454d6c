package org.expertpool.plots;

import java.util.List;

/**
 * One axis: its title with the unit, its scale, and how ticks read.
 *
 * @param shareOf ticks also say which share of this they are; 0 for none
 * @param categories names of the positions 0, 1, 2... where the axis has no numbers, else empty
 * @param names the same for bars, which carry them; ticks then count the bars from the last, which is the best
 */
record Axis(String title, Scale scale, Ticks ticks, int shareOf, List<String> categories, List<String> names) {
    /** How values lie along the axis; {@code LOG2} values must be positive. */
    enum Scale {
        LINEAR,
        LOG2
    }

    /** How a tick reads: a plain number, a ratio with two decimals, per cent, or a token count in units of 1,024. */
    enum Ticks {
        NUMBER,
        RATIO,
        PERCENT,
        TOKENS
    }

    Axis {
        categories = List.copyOf(categories);
        names = List.copyOf(names);
    }

    static Axis linear(String title, Ticks ticks) {
        return new Axis(title, Scale.LINEAR, ticks, 0, List.of(), List.of());
    }

    static Axis log2(String title, Ticks ticks) {
        return new Axis(title, Scale.LOG2, ticks, 0, List.of(), List.of());
    }

    static Axis ofCategories(String title, List<String> categories) {
        return new Axis(title, Scale.LINEAR, Ticks.NUMBER, 0, categories, List.of());
    }

    /** Positions of bars that carry these names, the best last. */
    static Axis ofBars(String title, List<String> names) {
        return new Axis(title, Scale.LINEAR, Ticks.NUMBER, 0, List.of(), names);
    }

    /** The same axis of rows per layer, with the share of the experts beside each tick where their number is known. */
    Axis withShareOf(int experts) {
        return experts == 0
                ? this
                : new Axis(
                        "%s (share of the %,d experts)".formatted(title, experts),
                        scale,
                        ticks,
                        experts,
                        categories,
                        names);
    }

    /** Where a value lies on the axis: itself, or its binary logarithm. */
    double position(double value) {
        return scale == Scale.LINEAR ? value : Math.log(value) / Math.log(2);
    }

    /** The text of a tick at a position; distinct positions read differently, which XChart's ticks depend on. */
    String tickText(double position) {
        if (!categories.isEmpty()) {
            int index = (int) Math.rint(position);
            boolean named = Math.abs(position - index) < 1e-6 && index >= 0 && index < categories.size();
            return named ? categories.get(index) : Numbers.plain(position);
        }
        if (!names.isEmpty()) {
            return Numbers.plain(names.size() - position);
        }
        double value = scale == Scale.LINEAR ? position : Math.pow(2, position);
        return switch (ticks) {
            case NUMBER -> Numbers.plain(value) + share(value);
            case RATIO -> Numbers.fixed(value, 2);
            case PERCENT -> Numbers.plain(value) + " %";
            case TOKENS -> Numbers.tokens(value);
        };
    }

    /**
     * How far apart ticks should be, in the unit of {@code length}: a log axis gets a tick per octave, or per half or
     * quarter of one where it is short, an axis of categories one for each, one of bars none between two of them.
     *
     * @param usual the least distance that leaves tick labels room
     */
    int tickSpacing(double length, double span, int usual) {
        double perUnit = length / span;
        if (!categories.isEmpty()) {
            return Math.max(1, (int) (.9 * perUnit));
        }
        if (!names.isEmpty()) {
            return Math.max(usual, (int) (.9 * perUnit));
        }
        if (scale == Scale.LINEAR) {
            return usual;
        }
        double octaves = span < 1 ? .2 : span < 2.5 ? .5 : 1;
        return Math.max(usual, (int) (.9 * perUnit * octaves));
    }

    private String share(double value) {
        return shareOf == 0 ? "" : " (" + Numbers.plain(Math.rint(100 * value / shareOf)) + " %)";
    }
}
