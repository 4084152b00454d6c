package org.expertpool.harness.trace.synthetic;

/** A value per expert that wanders about zero and forgets with a time constant (a discrete Ornstein-Uhlenbeck process). */
final class Wander {
    private final float[] values;
    private final float spread;
    private final float keep;
    private final float renew;

    /**
     * @param spread standard deviation in the long run; 0 switches the process off and costs no random numbers
     * @param tokens steps after which the correlation has fallen to 1/e
     */
    Wander(int experts, double spread, double tokens) {
        values = new float[experts];
        this.spread = (float) spread;
        double kept = StrictMath.exp(-1 / tokens);
        keep = (float) kept;
        renew = (float) (spread * StrictMath.sqrt(1 - kept * kept));
    }

    void restart(SplitMix64 random) {
        if (spread > 0) {
            for (int expert = 0; expert < values.length; expert++) {
                values[expert] = spread * random.nextBell();
            }
        }
    }

    float step(int expert, SplitMix64 random) {
        if (spread > 0) {
            values[expert] = keep * values[expert] + renew * random.nextBell();
        }
        return values[expert];
    }
}
