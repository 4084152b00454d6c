package org.expertpool.pool.plan;

import java.util.EnumMap;
import java.util.Map;
import org.expertpool.pool.BadInputException;

/**
 * The values of the planner's controls (pool-semantics 3). Immutable, so a set of changes is taken whole or not at all.
 *
 * @param gate 1: the placement may change; 0: it is frozen
 * @param promoteLimit promotions per layer call; 0 for no limit
 * @param promoteInterval promote only on every n-th forward
 * @param promoteMinMisses misses since last resident before a key is promoted
 * @param protectRecent rows used within the last n forwards, the previous one included, are never victims
 */
public record PoolControls(int gate, int promoteLimit, int promoteInterval, int promoteMinMisses, int protectRecent) {
    /** What a pool starts with: the gate closed, everything else at its default. */
    public static final PoolControls DEFAULTS = new PoolControls(0, 0, 1, 1, 0);

    public PoolControls {
        Control.GATE.require(gate);
        Control.PROMOTE_LIMIT.require(promoteLimit);
        Control.PROMOTE_INTERVAL.require(promoteInterval);
        Control.PROMOTE_MIN_MISSES.require(promoteMinMisses);
        Control.PROTECT_RECENT.require(protectRecent);
    }

    /** These controls with some changed, by name; every change is validated before any is taken. */
    public PoolControls with(Map<String, ? extends Number> changes) {
        Map<Control, Integer> next = new EnumMap<>(Control.class);
        changes.forEach((name, value) -> {
            Control control = Control.named(name);
            // A fraction, or so large that only its low bits would be left.
            if (value.doubleValue() != value.longValue()) {
                throw new BadInputException("control " + name + " is " + value + ", expected a whole number");
            }
            next.put(control, control.require(value.longValue()));
        });
        return new PoolControls(
                next.getOrDefault(Control.GATE, gate),
                next.getOrDefault(Control.PROMOTE_LIMIT, promoteLimit),
                next.getOrDefault(Control.PROMOTE_INTERVAL, promoteInterval),
                next.getOrDefault(Control.PROMOTE_MIN_MISSES, promoteMinMisses),
                next.getOrDefault(Control.PROTECT_RECENT, protectRecent));
    }

    public PoolControls withGate(boolean open) {
        return new PoolControls(open ? 1 : 0, promoteLimit, promoteInterval, promoteMinMisses, protectRecent);
    }

    public boolean gateOpen() {
        return gate == 1;
    }
}
