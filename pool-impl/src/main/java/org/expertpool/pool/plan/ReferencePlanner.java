package org.expertpool.pool.plan;

import static org.expertpool.pool.plan.PoolTables.ABSENT;

import java.util.Map;
import org.expertpool.pool.BadInputException;

/**
 * The planner of pool-semantics 4 as a plain scan: the one that every other planner must equal bit for bit. Not for
 * concurrent use.
 */
public final class ReferencePlanner {
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

    public PoolConfig config() {
        return config;
    }

    public PoolTables tables() {
        return tables;
    }

    public PoolControls controls() {
        return controls;
    }

    /** Replaces all controls, between steps. */
    public void controls(PoolControls next) {
        controls = next;
    }

    /** Changes some controls by name, between steps: all or, if one is refused, none. */
    public void control(Map<String, ? extends Number> changes) {
        controls = controls.with(changes);
    }

    /** Clears the sticky error. */
    public void clearError() {
        tables.error = 0;
    }

    /**
     * Plans one layer call.
     *
     * @param ids routed expert ids, [lanes]: -1 is padding, any other value outside {@code [0, E)} is invalid
     * @param weights router weights, [lanes]
     * @param lanes lanes of the call, at most S
     * @return the plan, overwritten by the next step
     */
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

    /**
     * Exchanges a resident expert for one that is not, of the same layer, for verification; only with the gate closed.
     * Recency and miss counts stay.
     *
     * @return the row whose bytes the caller must now replace
     */
    public int swap(int layer, int resident, int other) {
        requireLayer(layer);
        if (controls.gateOpen()) {
            throw new IllegalStateException("swap of experts " + resident + " and " + other + " of layer " + layer
                    + ": the gate is open, expected closed");
        }
        int row = tables.hotRow[requireExpert(layer, resident)];
        int otherKey = requireExpert(layer, other);
        if (row == ABSENT || tables.hotRow[otherKey] != ABSENT) {
            throw new IllegalArgumentException("swap of layer " + layer + ": expert " + resident + " must be resident"
                    + " and expert " + other + " must not be");
        }
        tables.evict(config.key(layer, resident));
        tables.own(otherKey, row);
        return row;
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

    private int requireExpert(int layer, int expert) {
        if (expert < 0 || expert >= config.experts()) {
            throw new IllegalArgumentException("expert is " + expert + ", expected 0 to " + (config.experts() - 1));
        }
        return config.key(layer, expert);
    }
}
