package org.expertpool.harness.verify;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;

/** Pool-semantics 4 told in maps and lists, written apart from every planner: slow, and only for comparison. */
final class PlainPool {
    /** A pool row: whose it is, and when it was last used. */
    private record Slot(int layer, int expert, long use, int row) {}

    /** An expert copied to a row. */
    record Copy(int expert, int row) {}

    private final PoolConfig config;
    private final Map<Integer, Slot> slots = new HashMap<>(); // by row
    private final Map<List<Integer>, Integer> misses = new HashMap<>(); // by layer and expert
    private long clock;
    private long forwards;
    final List<Copy> promotions = new ArrayList<>();
    final List<Copy> staged = new ArrayList<>();

    PlainPool(PoolConfig config) {
        this.config = config;
        for (int layer = 0; layer < config.layers(); layer++) {
            for (int expert = 0; expert < config.residentPerLayer(); expert++) {
                int row = slots.size();
                slots.put(row, new Slot(layer, expert, 0, row));
            }
        }
    }

    /** One layer call; promotions and staged copies are then those of this call. */
    void step(PoolControls controls, int layer, int[] ids, float[] weights, int lanes) {
        promotions.clear();
        staged.clear();
        Set<Integer> selection = new LinkedHashSet<>();
        for (int lane = 0; lane < lanes; lane++) {
            boolean known = ids[lane] >= 0 && ids[lane] < config.experts();
            if (known && weights[lane] >= 0 && weights[lane] < Float.POSITIVE_INFINITY) {
                selection.add(ids[lane]);
            }
        }
        boolean open = controls.gate() == 1;
        if (open) {
            clock++;
            forwards += layer == 0 ? 1 : 0;
            for (int expert : selection) {
                row(layer, expert).ifPresent(slot -> slots.put(slot.row(), new Slot(layer, expert, clock, slot.row())));
            }
        }
        boolean promotes = open && (forwards - 1) % controls.promoteInterval() == 0;
        for (int expert : selection) {
            if (row(layer, expert).isEmpty()) {
                int missed = open ? misses.merge(List.of(layer, expert), 1, Integer::sum) : 0;
                boolean allowed = promotes
                        && missed >= controls.promoteMinMisses()
                        && (controls.promoteLimit() == 0 || promotions.size() < controls.promoteLimit());
                Optional<Slot> victim = allowed ? victim(controls.protectRecent()) : Optional.empty();
                if (victim.isPresent()) {
                    int row = victim.get().row();
                    slots.put(row, new Slot(layer, expert, clock, row));
                    misses.remove(List.of(layer, expert));
                    promotions.add(new Copy(expert, row));
                } else {
                    staged.add(new Copy(expert, config.poolRows() + staged.size()));
                }
            }
        }
    }

    /** Row of a lane's expert after the step, or -1. */
    int route(int layer, int expert) {
        return row(layer, expert)
                .map(Slot::row)
                .or(() -> staged.stream()
                        .filter(copy -> copy.expert() == expert)
                        .map(Copy::row)
                        .findFirst())
                .orElse(-1);
    }

    private Optional<Slot> row(int layer, int expert) {
        return slots.values().stream()
                .filter(slot -> slot.layer() == layer && slot.expert() == expert)
                .findFirst();
    }

    private Optional<Slot> victim(int protectRecent) {
        long before = protectRecent > 0 ? clock - (long) protectRecent * config.layers() : clock;
        return slots.values().stream()
                .filter(slot -> slot.use() < before)
                .min(Comparator.comparingLong(Slot::use).thenComparingInt(Slot::row));
    }
}
