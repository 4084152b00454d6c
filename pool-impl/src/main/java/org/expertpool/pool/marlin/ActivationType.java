package org.expertpool.pool.marlin;

import org.expertpool.pool.BadInputException;

/** The 16-bit type of the activations, which decides how weights and scales expand (marlin-nvfp4 2.2, 2.4, 2.6). */
public enum ActivationType {
    /** Weights expand to 2^-126, scales to 2^7 times their value. */
    BF16(119, true),
    /** Weights expand to 2^-14, scales to 2^7 times their value; scales are never rescaled. */
    FP16(7, false);

    private final int log2Alpha;
    private final boolean rescalesBlockScales;

    ActivationType(int log2Alpha, boolean rescalesBlockScales) {
        this.log2Alpha = log2Alpha;
        this.rescalesBlockScales = rescalesBlockScales;
    }

    boolean rescalesBlockScales() {
        return rescalesBlockScales;
    }

    /**
     * What turns an fp32 accumulator into the true sum: {@code globalScale * 2^119 / sf} for bf16, {@code * 2^7} for
     * fp16.
     *
     * @throws BadInputException the product leaves the range of normal fp32 numbers
     */
    public float alpha(float globalScale, int log2Factor) {
        float alpha = Math.scalb(globalScale, log2Alpha - log2Factor);
        if (globalScale != 0 && !(alpha >= Float.MIN_NORMAL && alpha <= Float.MAX_VALUE)) {
            throw new BadInputException("Marlin scales: alpha of global scale " + globalScale + " and scale factor 2^"
                    + log2Factor + " is " + alpha + ", expected a normal positive fp32 number");
        }
        return alpha;
    }
}
