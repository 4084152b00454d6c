package org.expertpool.pool.marlin;

import org.expertpool.pool.format.E4M3;

/**
 * How the power of two sf is chosen that block scales are multiplied by before they become codes, and the global scale
 * is divided by (marlin-nvfp4 2.5). One sf covers one projection of one expert; 1 where no scale is positive.
 */
public enum ScaleFactorRule {
    /** The newer rule: lift the largest scale to (224, 448]; scales that stay under 2^-6 are lost and become zero. */
    FROM_LARGEST {
        @Override
        int log2Factor(float smallest, float largest) {
            return largest < E4M3.MAX ? Math.getExponent(E4M3.MAX / largest) : 0;
        }

        @Override
        boolean zeroes(float rescaled) {
            return rescaled < SMALLEST_EXACT;
        }
    },

    /** The older rule: lift the smallest positive scale to 2^-6 at least; scales that end beyond 511 saturate. */
    FROM_SMALLEST {
        @Override
        int log2Factor(float smallest, float largest) {
            return smallest < SMALLEST_EXACT ? -Math.getExponent(smallest / SMALLEST_EXACT) : 0;
        }

        @Override
        boolean zeroes(float rescaled) {
            return false;
        }
    };

    /** The smallest rescaled value whose code expands to bf16 exactly: 2 / 128. */
    static final float SMALLEST_EXACT = 0x1p-6f;

    /**
     * The exponent of sf.
     *
     * @param smallest smallest positive scale
     * @param largest largest scale
     */
    abstract int log2Factor(float smallest, float largest);

    /** Whether the rule turns a rescaled value into zero. */
    abstract boolean zeroes(float rescaled);
}
