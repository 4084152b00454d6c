package org.expertpool.pool.plan;

import static org.expertpool.pool.plan.PoolTables.ABSENT;

import org.expertpool.pool.BadInputException;

/**
 * The planner of pool-semantics 4 as a plain scan: the one that every other planner must equal bit for bit. Not for
 * concurrent use.
 */
public final class ReferencePlanner implements Planner {
    private final PoolConfig config;
    private final PoolTables tables;
    private final StepPlan plan;
    private final int[] selection; // [S] distinct valid experts in order of first occurrence
    private final int[] stagedExperts; // [S]
    private final boolean[] inSelection; // [E] all false between steps
    private PoolControls controls = PoolControls.DEFAULTS;

    public ReferencePlanner(PoolConfig config) {
        if (!config.enabled()) {
            throw new BadInputException(
                    "rows is 0: the pool is off and plans nothing; expected at least topK = " + config.topK());
        }
        this.config = config;
        tables = new PoolTables(config);
        plan = new StepPlan(config);
        selection = new int[config.width().lanes()];
        stagedExperts = new int[selection.length];
        inSelection = new boolean[config.experts()];
    }

    @Override
    public PoolConfig config() {
        return config;
    }

    @Override
    public PoolTables tables() {
        return tables;
    }

    @Override
    public PoolControls controls() {
        return controls;
    }

    @Override
    public void controls(PoolControls next) {
        controls = next;
    }

    @Override
    public void clearError() {
        tables.error = 0;
    }

    @Override
    public StepPlan step(int layer, int[] ids, float[] weights, int lanes) {
        requireLayer(layer);
        if (lanes < 0 || lanes > selection.length) {
            throw new IllegalArgumentException(
                    "lanes is " + lanes + ", expected 0 to S = " + selection.length + "; wider calls are partitioned");
        }
        if (Lanes.sanitise(ids, weights, lanes, config.experts(), plan.safeIds)) {
            tables.error = 1;
        }
        plan.layer = layer;
        plan.lanes = lanes;
        select(lanes);
        if (controls.gateOpen()) {
            stampResidents(layer);
        }
        planMisses(layer);
        route(lanes);
        return plan;
    }

    /**
     * The safe ids of a call of any width, which takes the partition path; an invalid lane sets the error as in a step.
     *
     * @return a new array, [lanes]
     */
    public int[] sanitise(int[] ids, float[] weights, int lanes) {
        int[] safeIds = new int[lanes];
        if (Lanes.sanitise(ids, weights, lanes, config.experts(), safeIds)) {
            tables.error = 1;
        }
        return safeIds;
    }

    @Override
    public int swap(int layer, int resident, int other) {
        if (controls.gateOpen()) {
            throw new IllegalStateException("swap of experts " + resident + " and " + other + " of layer " + layer
                    + ": the gate is open, expected closed");
        }
        return tables.swap(layer, resident, other);
    }

    private void select(int lanes) {
        int selected = 0;
        for (int lane = 0; lane < lanes; lane++) {
            int expert = plan.safeIds[lane];
            if (expert != Lanes.PADDING && !inSelection[expert]) {
                inSelection[expert] = true;
                selection[selected++] = expert;
            }
        }
        for (int i = 0; i < selected; i++) {
            inSelection[selection[i]] = false;
        }
        plan.selected = selected;
    }

    /** Hits are stamped before any miss looks for a victim, so that a step never evicts what it uses. */
    private void stampResidents(int layer) {
        tables.clock++;
        if (layer == 0) {
            tables.forwards++;
        }
        for (int i = 0; i < plan.selected; i++) {
            int row = tables.hotRow[config.key(layer, selection[i])];
            if (row != ABSENT) {
                tables.rowUse[row] = tables.clock;
            }
        }
    }

    private void planMisses(int layer) {
        boolean open = controls.gateOpen();
        // Signed: a gate opened in mid-forward leaves forwards at 0, and then only interval 1 promotes.
        boolean mayPromote = open && (tables.forwards - 1) % controls.promoteInterval() == 0;
        int promoted = 0;
        int staged = 0;
        for (int i = 0; i < plan.selected; i++) {
            int expert = selection[i];
            int key = config.key(layer, expert);
            if (tables.hotRow[key] != ABSENT) {
                continue;
            }
            if (open) {
                tables.missCount[key]++;
            }
            int victim = mayPromote && withinLimit(promoted) && missedEnough(key) ? victim() : ABSENT;
            if (victim == ABSENT) {
                stagedExperts[staged++] = expert;
            } else {
                promote(key, victim);
                plan.copyExpert[promoted] = expert;
                plan.copyRow[promoted++] = victim;
            }
        }
        System.arraycopy(tables.hotRow, config.key(layer, 0), plan.stepMap, 0, plan.stepMap.length);
        for (int i = 0; i < staged; i++) {
            int expert = stagedExperts[i];
            int row = config.poolRows() + i;
            plan.copyExpert[promoted + i] = expert;
            plan.copyRow[promoted + i] = row;
            plan.stepMap[expert] = row;
        }
        plan.promoted = promoted;
        plan.staged = staged;
    }

    private boolean withinLimit(int promoted) {
        return controls.promoteLimit() == 0 || promoted < controls.promoteLimit();
    }

    private boolean missedEnough(int key) {
        return tables.missCount[key] >= controls.promoteMinMisses();
    }

    /** The owned pool row with the smallest (rowUse, row) that may be taken, or ABSENT. Any layer's row may be. */
    private int victim() {
        long before = tables.clock;
        if (controls.protectRecent() > 0) {
            before -= (long) controls.protectRecent() * config.layers();
        }
        int victim = ABSENT;
        for (int row = 0; row < config.poolRows(); row++) {
            if (tables.rowKey[row] != ABSENT && tables.rowUse[row] < before) {
                victim = row;
                before = tables.rowUse[row]; // strictly smaller from here on, so the lowest row wins a tie
            }
        }
        return victim;
    }

    private void promote(int key, int row) {
        tables.evict(tables.rowKey[row]);
        tables.own(key, row);
        tables.rowUse[row] = tables.clock;
        tables.missCount[key] = 0;
    }

    private void route(int lanes) {
        for (int lane = 0; lane < lanes; lane++) {
            int expert = plan.safeIds[lane];
            plan.routes[lane] = expert == Lanes.PADDING ? ABSENT : plan.stepMap[expert];
        }
    }

    private void requireLayer(int layer) {
        if (layer < 0 || layer >= config.layers()) {
            throw new IllegalArgumentException("layer is " + layer + ", expected 0 to " + (config.layers() - 1));
        }
    }
}
