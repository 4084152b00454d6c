package org.expertpool.pool.plan;

/** Validation of routed lanes (pool-semantics 4, step 1): what every consumer behind the router is allowed to see. */
public final class Lanes {
    /** The id of a lane that carries nothing; also what an invalid lane is replaced by. */
    public static final int PADDING = -1;

    private Lanes() {}

    /**
     * Writes the safe ids of a call's lanes: the id of a valid lane, {@link #PADDING} for any other.
     *
     * @param ids expert ids as routed, [lanes]
     * @param weights router weights, [lanes]; those of padding lanes are not looked at
     * @param safeIds receives the result, [lanes]
     * @return whether a lane was invalid, which is more than padding
     */
    public static boolean sanitise(int[] ids, float[] weights, int lanes, int experts, int[] safeIds) {
        boolean invalid = false;
        for (int lane = 0; lane < lanes; lane++) {
            int id = ids[lane];
            boolean valid = id >= 0 && id < experts && usable(weights, lane);
            safeIds[lane] = valid ? id : PADDING;
            invalid |= !valid && id != PADDING;
        }
        return invalid;
    }

    /** Finite and not negative; -0 is not negative. */
    private static boolean usable(float[] weights, int lane) {
        return Float.isFinite(weights[lane]) && !(weights[lane] < 0);
    }
}
