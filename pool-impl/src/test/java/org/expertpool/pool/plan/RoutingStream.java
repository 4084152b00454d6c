package org.expertpool.pool.plan;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** A seeded stream of steps and control changes that visits the corners of the planner's input. */
final class RoutingStream {
    /** What kind of lanes a step has. */
    enum Kind {
        UNIFORM,
        FEW_EXPERTS,
        ALL_HIT,
        ALL_MISS,
        ONE_EXPERT,
        ALL_PADDING,
        EMPTY,
        FULL_WIDTH_DISTINCT,
        BROKEN;

        static Set<Kind> applicable(PoolConfig config) {
            Set<Kind> kinds = EnumSet.allOf(Kind.class);
            if (config.poolRows() == 0) {
                kinds.remove(ALL_HIT);
            }
            return kinds;
        }
    }

    private static final int[] STRANGE_IDS = {-2, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 16, -1000};
    private static final float[] STRANGE_WEIGHTS = {
        Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, -1f, -Float.MIN_VALUE, -0f, 0f, Float.MAX_VALUE,
    };

    private final PoolConfig config;
    private final Random random;
    private final Set<Kind> exercised = EnumSet.noneOf(Kind.class);
    private final int[] ids;
    private final float[] weights;
    private int layer = -1;

    RoutingStream(PoolConfig config, long seed) {
        this.config = config;
        random = new Random(seed);
        ids = new int[config.width().lanes()];
        weights = new float[ids.length];
    }

    Map<String, Integer> controls() {
        Map<String, Integer> changes = new HashMap<>();
        if (random.nextInt(12) == 0) {
            changes.put("gate", random.nextInt(4) == 0 ? 0 : 1);
        }
        if (random.nextInt(40) == 0) {
            changes.put("promoteLimit", pick(0, 0, 1, 2, ids.length - 1, ids.length, Integer.MAX_VALUE));
        }
        if (random.nextInt(40) == 0) {
            changes.put("promoteInterval", pick(1, 1, 1, 2, 3, 7, Integer.MAX_VALUE));
        }
        if (random.nextInt(40) == 0) {
            changes.put("promoteMinMisses", pick(1, 1, 1, 2, 3, Integer.MAX_VALUE));
        }
        if (random.nextInt(40) == 0) {
            changes.put("protectRecent", pick(0, 0, 0, 1, 2, 5, Integer.MAX_VALUE));
        }
        return changes;
    }

    boolean clearsError() {
        return random.nextInt(25) == 0;
    }

    /** Makes the next step's lanes and returns how many there are. */
    int next(PoolTables tables) {
        layer = random.nextInt(50) == 0 ? random.nextInt(config.layers()) : (layer + 1) % config.layers();
        int lanes = random.nextInt(3) == 0 ? ids.length : 1 + random.nextInt(ids.length);
        Kind[] kinds = Kind.values();
        Kind kind = kinds[random.nextInt(kinds.length)];
        int few = 1 + random.nextInt(Math.min(config.experts(), ids.length));
        int shift = random.nextInt(config.experts());
        for (int lane = 0; lane < ids.length; lane++) {
            weights[lane] = random.nextFloat();
            ids[lane] = switch (kind) {
                case UNIFORM, BROKEN -> random.nextInt(config.experts());
                case FEW_EXPERTS -> random.nextInt(few);
                case ALL_HIT -> resident(tables, true);
                case ALL_MISS -> resident(tables, false);
                case ONE_EXPERT -> shift;
                case ALL_PADDING, EMPTY -> -1;
                case FULL_WIDTH_DISTINCT -> (shift + lane) % config.experts();
            };
            boolean spoil = kind == Kind.BROKEN ? random.nextInt(3) == 0 : random.nextInt(60) == 0;
            if (spoil) {
                spoil(lane);
            }
        }
        exercised.add(kind);
        return switch (kind) {
            case EMPTY -> 0;
            case FULL_WIDTH_DISTINCT -> ids.length;
            default -> lanes;
        };
    }

    int layer() {
        return layer;
    }

    int[] ids() {
        return ids;
    }

    float[] weights() {
        return weights;
    }

    Set<Kind> exercised() {
        return exercised;
    }

    private void spoil(int lane) {
        switch (random.nextInt(4)) {
            case 0 -> ids[lane] = -1;
            case 1 -> ids[lane] = config.experts();
            case 2 -> ids[lane] = STRANGE_IDS[random.nextInt(STRANGE_IDS.length)];
            default -> weights[lane] = STRANGE_WEIGHTS[random.nextInt(STRANGE_WEIGHTS.length)];
        }
        if (random.nextInt(4) == 0) {
            weights[lane] = Float.NaN; // on padding lanes, it must not be looked at
        }
    }

    /** An expert of this layer that is resident, or one that is not; any expert where there is none. */
    private int resident(PoolTables tables, boolean wanted) {
        int start = random.nextInt(config.experts());
        for (int i = 0; i < config.experts(); i++) {
            int expert = (start + i) % config.experts();
            if ((tables.hotRow(config.key(layer, expert)) >= 0) == wanted) {
                return expert;
            }
        }
        return start;
    }

    private int pick(int... values) {
        return values[random.nextInt(values.length)];
    }
}
