package org.expertpool.pool.marlin;

import org.expertpool.pool.format.E4M3;

/**
 * What a scale factor rule lost, apart from any error of the GEMM.
 *
 * @param blocks block scales looked at
 * @param zeroed positive scales that became zero
 * @param changed scales that stayed positive but changed, by saturation
 * @param squaredError sum of squares of the scales' changes
 * @param squaredNorm sum of squares of the scales
 */
public record ScaleLoss(long blocks, long zeroed, long changed, double squaredError, double squaredNorm) {
    /** Nothing looked at, nothing lost. */
    public static final ScaleLoss NONE = new ScaleLoss(0, 0, 0, 0, 0);

    /** Error of the scales in the 2-norm, relative; 0 where all are zero. */
    public double relativeError() {
        return squaredNorm == 0 ? 0 : Math.sqrt(squaredError / squaredNorm);
    }

    public ScaleLoss plus(ScaleLoss other) {
        return new ScaleLoss(
                blocks + other.blocks,
                zeroed + other.zeroed,
                changed + other.changed,
                squaredError + other.squaredError,
                squaredNorm + other.squaredNorm);
    }

    /**
     * The loss of a table of codes.
     *
     * @param counts how often each E4M3 value without its sign occurs
     * @param codeOf the code of each
     */
    static ScaleLoss of(int[] counts, byte[] codeOf, int log2Factor) {
        long blocks = 0;
        long zeroed = 0;
        long changed = 0;
        double squaredError = 0;
        double squaredNorm = 0;
        for (int bits = 0; bits < counts.length; bits++) {
            if (counts[bits] == 0) {
                continue;
            }
            double before = E4M3.decode((byte) bits);
            double after = Math.scalb((double) ScaleCodes.decode(codeOf[bits]), -log2Factor);
            blocks += counts[bits];
            if (after != before) {
                zeroed += after == 0 ? counts[bits] : 0;
                changed += after == 0 ? 0 : counts[bits];
            }
            squaredError += counts[bits] * ((after - before) * (after - before));
            squaredNorm += counts[bits] * (before * before);
        }
        return new ScaleLoss(blocks, zeroed, changed, squaredError, squaredNorm);
    }
}
