package org.expertpool.pool.cuda.engine;

/**
 * Experts of one layer call.
 *
 * @param count distinct experts of valid lanes
 * @param missing those of them that are not resident, ascending
 * @param laneCounts valid lanes of each expert of the layer
 */
@SuppressWarnings("ArrayRecordComponent") // made once a call, read once, compared never
record TouchedExperts(int count, int[] missing, int[] laneCounts) {
    boolean anyResident() {
        return count > missing.length;
    }

    /** First aligned block of each expert, [experts + 1]: blocks of so many lanes lie in ascending order of experts. */
    int[] firstBlocks(int blockLanes) {
        int[] first = new int[laneCounts.length + 1];
        for (int expert = 0; expert < laneCounts.length; expert++) {
            first[expert + 1] = first[expert] + (laneCounts[expert] + blockLanes - 1) / blockLanes;
        }
        return first;
    }
}
