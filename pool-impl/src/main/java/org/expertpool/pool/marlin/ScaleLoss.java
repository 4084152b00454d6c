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

    static ScaleLoss of(byte[] scales, byte[] codes, int log2Factor) {
        long zeroed = 0;
        long changed = 0;
        double squaredError = 0;
        double squaredNorm = 0;
        for (int i = 0; i < scales.length; i++) {
            double before = E4M3.decode(scales[i]);
            double after = Math.scalb((double) ScaleCodes.decode(codes[i]), -log2Factor);
            if (after != before) {
                zeroed += after == 0 ? 1 : 0;
                changed += after == 0 ? 0 : 1;
            }
            squaredError += (after - before) * (after - before);
            squaredNorm += before * before;
        }
        return new ScaleLoss(scales.length, zeroed, changed, squaredError, squaredNorm);
    }
}
