package org.expertpool.pool.policy;

import java.util.Arrays;
import java.util.Optional;

/**
 * Promotes a miss whose heat exceeds that of the victim's owner by more than a margin. A selection adds 1, or its router
 * weight, to the key's heat, before the comparison; heat halves every {@code halfLife} forwards. It survives eviction.
 *
 * <p>Device form: {@code heat[key]} (i32, Q16: units of 2^-16) and {@code heatForward[key]} (i32, when it was written),
 * brought up to date when read: {@code (heat * factor[age % halfLife] >> 16) >> (age / halfLife)} in i64, where
 * {@code factor[i] = round(2^(16 - i / halfLife))}. A router weight is taken as {@code round(weight * 2^16)}, and as 1 if it is above 1.
 *
 * <p>Source: TinyLFU admission (Einziger et al., 2017) against the victim, with counts of half-life 64 in the place of a sketch; measured for expert pools as "hotter(64, +1)" (everett6).
 */
final class HotterRule implements PromotionRule {
    private static final int FRACTION_BITS = 16;
    private static final int ONE = 1 << FRACTION_BITS;

    private final PoolState state;
    private final int halfLifeForwards;
    private final int margin; // Q16
    private final boolean byWeight;
    private final int[] factor; // [halfLife] Q16
    private final int[] heat; // [L*E] Q16
    private final int[] heatForward; // [L*E]

    /** @param byWeight whether a selection adds its router weight */
    HotterRule(PoolState state, int halfLifeForwards, double margin, boolean byWeight) {
        this.state = state;
        this.halfLifeForwards = halfLifeForwards;
        this.margin = (int) Math.rint(margin * ONE);
        this.byWeight = byWeight;
        factor = new int[halfLifeForwards];
        for (int i = 0; i < halfLifeForwards; i++) {
            factor[i] = (int) Math.rint(ONE * StrictMath.pow(2, -(double) i / halfLifeForwards));
        }
        heat = new int[state.hotRow.length];
        heatForward = new int[state.hotRow.length];
    }

    @Override
    public Optional<DeviceState> deviceState() {
        return Optional.of(DeviceState.of(
                new DeviceState.Array("heat", DeviceState.Entry.I32, heat.length),
                new DeviceState.Array("heatForward", DeviceState.Entry.I32, heatForward.length),
                new DeviceState.Array("factor", DeviceState.Entry.I32, factor.length)));
    }

    @Override
    public void reset() {
        Arrays.fill(heat, 0);
        Arrays.fill(heatForward, 0);
    }

    private int heat(int key) {
        int age = state.forwards - heatForward[key];
        int halvings = Math.min(31, age / halfLifeForwards);
        long decayed = ((long) heat[key] * factor[age % halfLifeForwards]) >> FRACTION_BITS;
        return (int) (decayed >> halvings);
    }

    @Override
    public void selected(int key, float weight) {
        int added = byWeight ? (int) Math.rint(Math.min(weight, 1.0) * ONE) : ONE;
        heat[key] = heat(key) + added;
        heatForward[key] = state.forwards;
    }

    @Override
    public boolean beats(int key, int victimKey) {
        return heat(key) > (long) heat(victimKey) + margin;
    }
}
