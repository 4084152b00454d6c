package org.expertpool.pool.policy;

/** Running counts of routing events, in distinct experts. Plain fields: this sits in the innermost loop. */
public final class StepTally {
    public long hits;
    public long promoted;
    public long staged;

    /** Experts brought in without a miss, by policies that exchange experts between events. */
    public long exchanged;

    public long misses() {
        return promoted + staged;
    }

    public long selections() {
        return hits + promoted + staged;
    }

    public void clear() {
        hits = 0;
        promoted = 0;
        staged = 0;
        exchanged = 0;
    }
}
