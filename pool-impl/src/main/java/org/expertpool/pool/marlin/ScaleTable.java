package org.expertpool.pool.marlin;

import org.expertpool.pool.format.E4M3;

/**
 * What becomes of the block scales of one projection of one expert: rule and codes see only which E4M3 values occur, and
 * the loss how often.
 */
public final class ScaleTable {
    /** E4M3 values without their sign; the last is NaN. */
    public static final int VALUES = 128;

    private final byte[] codeOf; // [VALUES]
    private final int log2Factor;
    private final ScaleLoss loss;

    private ScaleTable(byte[] codeOf, int log2Factor, ScaleLoss loss) {
        this.codeOf = codeOf;
        this.log2Factor = log2Factor;
        this.loss = loss;
    }

    /** @param counts how often each value occurs, [VALUES]; 0 for NaN */
    public static ScaleTable of(int[] counts, ScaleFactorRule rule, ActivationType type) {
        if (counts.length != VALUES || counts[VALUES - 1] != 0) {
            throw new IllegalArgumentException("counts of " + counts.length + " values, expected " + VALUES
                    + " of which the last, NaN, does not occur");
        }
        int log2Factor = type.rescalesBlockScales() ? log2Factor(counts, rule) : 0;
        byte[] codeOf = new byte[VALUES];
        for (int bits = 0; bits < VALUES - 1; bits++) {
            float rescaled = Math.scalb(E4M3.decode((byte) bits), log2Factor);
            codeOf[bits] = rule.zeroes(rescaled) ? 0 : ScaleCodes.code(rescaled);
        }
        return new ScaleTable(codeOf, log2Factor, ScaleLoss.of(counts, codeOf, log2Factor));
    }

    /** The code of each value, u8 [VALUES]; not a copy. */
    public byte[] codes() {
        return codeOf;
    }

    /** The exponent of sf. */
    public int log2Factor() {
        return log2Factor;
    }

    public ScaleLoss loss() {
        return loss;
    }

    /** E4M3 values without a sign are in the order of their bits. */
    private static int log2Factor(int[] counts, ScaleFactorRule rule) {
        int smallest = 1;
        while (smallest < VALUES && counts[smallest] == 0) {
            smallest++;
        }
        if (smallest == VALUES) {
            return 0;
        }
        int largest = VALUES - 1;
        while (counts[largest] == 0) {
            largest--;
        }
        return rule.log2Factor(E4M3.decode((byte) smallest), E4M3.decode((byte) largest));
    }
}
