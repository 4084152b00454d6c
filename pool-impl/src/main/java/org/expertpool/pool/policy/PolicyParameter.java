package org.expertpool.pool.policy;

import java.math.BigDecimal;
import org.expertpool.pool.BadInputException;

/**
 * A number in the parentheses of a policy part's name.
 *
 * @param name what it is, with its unit
 * @param initial the value where the name leaves it out
 * @param least smallest value taken
 * @param most largest value taken
 * @param whole whether fractions are refused
 */
record PolicyParameter(String name, BigDecimal initial, BigDecimal least, BigDecimal most, boolean whole) {
    static PolicyParameter whole(String name, int initial, int least, int most) {
        return new PolicyParameter(
                name, BigDecimal.valueOf(initial), BigDecimal.valueOf(least), BigDecimal.valueOf(most), true);
    }

    static PolicyParameter decimal(String name, String initial, String least, String most) {
        return new PolicyParameter(name, new BigDecimal(initial), new BigDecimal(least), new BigDecimal(most), false);
    }

    BigDecimal parse(String policy, String text) {
        try {
            BigDecimal value = text.length() > 20 ? most.add(BigDecimal.ONE) : new BigDecimal(text);
            boolean fits = value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
            if (fits && (!whole || value.stripTrailingZeros().scale() <= 0)) {
                return value;
            }
        } catch (NumberFormatException noNumber) {
            // the same message as for a number out of range
        }
        throw new BadInputException("policy \"" + policy + "\": " + name + " is \"" + text + "\", expected a "
                + (whole ? "whole number" : "number") + " from " + least.toPlainString() + " to "
                + most.toPlainString());
    }

    /** The value as it stands in full names: no exponent, no trailing zeros. */
    static String format(BigDecimal value) {
        return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
    }
}
