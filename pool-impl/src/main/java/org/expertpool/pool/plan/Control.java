package org.expertpool.pool.plan;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/** One of the planner's controls: its public name and its range (pool-semantics 3). */
public enum Control {
    GATE("gate", 0, 1),
    PROMOTE_LIMIT("promoteLimit", 0, Integer.MAX_VALUE),
    PROMOTE_INTERVAL("promoteInterval", 1, Integer.MAX_VALUE),
    PROMOTE_MIN_MISSES("promoteMinMisses", 1, Integer.MAX_VALUE),
    PROTECT_RECENT("protectRecent", 0, Integer.MAX_VALUE);

    private final String label;
    private final int min;
    private final int max;

    Control(String label, int min, int max) {
        this.label = label;
        this.min = min;
        this.max = max;
    }

    /** The name in files and options, such as {@code promoteLimit}. */
    public String label() {
        return label;
    }

    public int min() {
        return min;
    }

    public int max() {
        return max;
    }

    /** {@code value} as the control's i32; refuses one outside the range. */
    public int require(long value) {
        if (value < min || value > max) {
            throw new BadInputException(
                    "control " + label + " is " + value + ", expected a whole number from " + min + " to " + max);
        }
        return (int) value;
    }

    /** The control of that name; refuses an unknown one. */
    public static Control named(String label) {
        for (Control control : values()) {
            if (control.label.equals(label)) {
                return control;
            }
        }
        String known = Arrays.stream(values()).map(Control::label).collect(Collectors.joining(", "));
        throw new BadInputException("control " + label + " is unknown, expected one of " + known);
    }
}
