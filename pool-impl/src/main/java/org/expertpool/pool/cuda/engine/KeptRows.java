package org.expertpool.pool.cuda.engine;

import java.util.List;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.PrefillPromotion;

/** What of one layer's streamed rows stays in the pool, and the tables that say so. */
record KeptRows(DevicePool pool, PoolTables tables, List<PrefillPromotion.Kept> rows) {
    static final KeptRows NONE = new KeptRows(null, null, List.of());

    /** Pool row that a missing expert takes, or -1. */
    int rowOf(int expert) {
        for (PrefillPromotion.Kept kept : rows) {
            if (kept.expert() == expert) {
                return kept.row();
            }
        }
        return PoolTables.ABSENT;
    }

    /** Puts the tables in the device's place, after all that has been enqueued, and waits. */
    void uploadTables() {
        if (tables != null) {
            pool.deviceTables().upload(tables);
        }
    }
}
