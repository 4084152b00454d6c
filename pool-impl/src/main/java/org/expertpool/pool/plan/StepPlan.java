package org.expertpool.pool.plan;

import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * What one step decided (pool-semantics 4, step 6): copies, promotions first, then staged; where each expert of the
 * layer may be read; each lane's row. Owned and reused by its planner: valid until the next step. Arrays are the live
 * buffers, to be read only.
 */
public final class StepPlan {
    final int[] copyExpert; // [S]
    final int[] copyRow; // [S]
    final int[] stepMap; // [E]
    final int[] routes; // [S]
    final int[] safeIds; // [S]
    int layer;
    int lanes;
    int selected;
    int promoted;
    int staged;

    public StepPlan(PoolConfig config) {
        int maxLanes = config.width().lanes();
        copyExpert = new int[maxLanes];
        copyRow = new int[maxLanes];
        routes = new int[maxLanes];
        safeIds = new int[maxLanes];
        stepMap = new int[config.experts()];
    }

    /**
     * Takes a step's decisions as another planner's memory holds them; positions are not moved.
     *
     * @param copies expert and row of each copy in turn, [promoted + staged, 2]
     * @param rows bank row by lane, [lanes]
     * @param ids safe id by lane, [lanes]
     * @param map bank row by expert, [E]
     */
    public void read(
            int newLayer,
            int newLanes,
            int newPromoted,
            int newStaged,
            IntBuffer copies,
            IntBuffer rows,
            IntBuffer ids,
            IntBuffer map) {
        layer = newLayer;
        lanes = newLanes;
        promoted = newPromoted;
        staged = newStaged;
        for (int copy = 0; copy < promoted + staged; copy++) {
            copyExpert[copy] = copies.get(2 * copy);
            copyRow[copy] = copies.get(2 * copy + 1);
        }
        rows.get(0, routes, 0, lanes);
        ids.get(0, safeIds, 0, lanes);
        map.get(0, stepMap);
        selected = (int) Arrays.stream(safeIds, 0, lanes)
                .filter(expert -> expert != Lanes.PADDING)
                .distinct()
                .count();
    }

    public int layer() {
        return layer;
    }

    /** Lanes of the step; {@link #routes} and {@link #safeIds} count up to here. */
    public int lanes() {
        return lanes;
    }

    /** Distinct valid experts of the step. */
    public int selected() {
        return selected;
    }

    /** Selected experts that were resident when the step began. */
    public int hits() {
        return selected - copies();
    }

    /** Missing experts that took a pool row; the first of the copies. */
    public int promoted() {
        return promoted;
    }

    /** Missing experts that are copied to staging rows, for this layer call alone. */
    public int staged() {
        return staged;
    }

    /** Promotions and staged copies together. */
    public int copies() {
        return promoted + staged;
    }

    /** Expert of the {@code index}-th copy, an expert id of {@link #layer}. */
    public int copyExpert(int index) {
        return copyExpert[index];
    }

    /** Bank row that the {@code index}-th copy fills. */
    public int copyRow(int index) {
        return copyRow[index];
    }

    /** Bank row by expert of the layer, [E]: residents and staged; -1 elsewhere. */
    public int[] stepMap() {
        return stepMap;
    }

    /** Bank row by lane, [S]; -1 for padding and invalid lanes. */
    public int[] routes() {
        return routes;
    }

    /** Expert id by lane, [S]; -1 for padding and invalid lanes. The only ids that anything after the step may use. */
    public int[] safeIds() {
        return safeIds;
    }
}
