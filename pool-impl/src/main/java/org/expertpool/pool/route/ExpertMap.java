package org.expertpool.pool.route;

import org.expertpool.pool.BadInputException;

/**
 * A renumbering of a layer's experts, as expert parallelism uses it upstream. Never a way to bank rows: those may exceed
 * the expert count, so they are mapped after alignment ({@link RowRemap}).
 */
final class ExpertMap {
    /** When the map is applied. */
    enum Use {
        /** Foreign experts are dropped before counting: no -1 among the live blocks ("ignore invalid" on). */
        BEFORE_COUNTING,
        /** Foreign experts get blocks, whose id is then replaced by -1; unused blocks read the last entry, as upstream. */
        AFTER_COUNTING
    }

    private final int[] localIds; // [E] local expert by expert id; -1 for an expert that lives elsewhere
    private final Use use;

    ExpertMap(Use use, int... localIds) {
        for (int local : localIds) {
            if (local < -1 || local >= localIds.length) {
                throw new BadInputException("expert map holds " + local + ", expected -1 to " + (localIds.length - 1));
            }
        }
        this.localIds = localIds.clone();
        this.use = use;
    }

    boolean applies(Use when) {
        return use == when;
    }

    int local(int expert) {
        return localIds[expert];
    }

    int experts() {
        return localIds.length;
    }
}
