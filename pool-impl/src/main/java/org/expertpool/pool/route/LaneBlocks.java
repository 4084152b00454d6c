package org.expertpool.pool.route;

import java.util.Arrays;
import org.expertpool.pool.BadInputException;

/**
 * Lanes grouped by expert into blocks of equal size, each block for one expert (marlin-nvfp4 4). Within an expert the
 * lanes ascend, so the result is the same in every run.
 */
public final class LaneBlocks {
    /** Most experts of a layer that are aligned. */
    public static final int MAX_EXPERTS = 4_096;

    private static final int NONE = -1;

    private final int blockSize;
    private final int lanes;
    private final int[] sortedLanes;
    private final int[] blockExperts;
    private final int paddedLanes;

    LaneBlocks(int blockSize, int lanes, int[] sortedLanes, int[] blockExperts, int paddedLanes) {
        this.blockSize = blockSize;
        this.lanes = lanes;
        this.sortedLanes = sortedLanes;
        this.blockExperts = blockExperts;
        this.paddedLanes = paddedLanes;
    }

    /** Aligns by expert; lanes whose id is outside {@code [0, experts)} get no place. */
    public static LaneBlocks align(int[] ids, int lanes, int experts, int blockSize) {
        return align(ids, lanes, experts, blockSize, null);
    }

    static LaneBlocks align(int[] ids, int lanes, int experts, int blockSize, ExpertMap map) {
        requireLimits(lanes, experts, blockSize, map);
        boolean mapFirst = map != null && map.applies(ExpertMap.Use.BEFORE_COUNTING);
        int[] counted = new int[lanes];
        int[] next = new int[experts]; // lanes per expert, then the first place of each expert
        for (int lane = 0; lane < lanes; lane++) {
            int id = ids[lane];
            int expert = id < 0 || id >= experts ? NONE : mapFirst ? map.local(id) : id;
            counted[lane] = expert;
            if (expert != NONE) {
                next[expert]++;
            }
        }
        int blocks = Math.toIntExact(maxBlocks(lanes, experts, blockSize));
        int[] blockExperts = new int[blocks];
        int liveBlocks = placeExperts(next, blockSize, blockExperts);
        Arrays.fill(blockExperts, liveBlocks, blocks, NONE);

        int[] sortedLanes = new int[Math.multiplyExact(blocks, blockSize)];
        Arrays.fill(sortedLanes, lanes);
        for (int lane = 0; lane < lanes; lane++) {
            if (counted[lane] != NONE) {
                sortedLanes[next[counted[lane]]++] = lane;
            }
        }
        if (map != null && !mapFirst) {
            for (int block = 0; block < blocks; block++) {
                int expert = blockExperts[block];
                blockExperts[block] = map.local(expert == NONE ? map.experts() - 1 : expert);
            }
        }
        return new LaneBlocks(blockSize, lanes, sortedLanes, blockExperts, liveBlocks * blockSize);
    }

    /** Places that any routing of {@code lanes} lanes can take (marlin-nvfp4 4.1), before rounding up to whole blocks. */
    public static long maxPadded(int lanes, int experts, int blockSize) {
        long padded = lanes + (long) experts * (blockSize - 1);
        return lanes < experts ? Math.min((long) lanes * blockSize, padded) : padded;
    }

    /** Blocks that {@link #maxPadded} places need; buffers are whole blocks, as consumers read whole blocks. */
    public static long maxBlocks(int lanes, int experts, int blockSize) {
        return (maxPadded(lanes, experts, blockSize) + blockSize - 1) / blockSize;
    }

    /** Lanes per block. */
    public int blockSize() {
        return blockSize;
    }

    /** Lanes that were aligned; also the value of an empty place in {@link #sortedLanes}. */
    public int lanes() {
        return lanes;
    }

    /** Lane numbers, [blocks * blockSize], to be read only; in each block the lanes come first, then empty places. */
    public int[] sortedLanes() {
        return sortedLanes;
    }

    /** Expert of each block, [blocks], to be read only; -1 from {@link #liveBlocks} on. */
    public int[] blockExperts() {
        return blockExperts;
    }

    /** Places in live blocks, a multiple of the block size. */
    public int paddedLanes() {
        return paddedLanes;
    }

    /** All blocks, live or not. */
    public int blocks() {
        return blockExperts.length;
    }

    /** Blocks that hold lanes; they come first. */
    public int liveBlocks() {
        return paddedLanes / blockSize;
    }

    /** Turns counts into first places, names each block's expert, and returns how many blocks are live. */
    private static int placeExperts(int[] counts, int blockSize, int[] blockExperts) {
        int block = 0;
        for (int expert = 0; expert < counts.length; expert++) {
            int first = block;
            block += (int) (((long) counts[expert] + blockSize - 1) / blockSize);
            counts[expert] = first * blockSize;
            Arrays.fill(blockExperts, first, block, expert);
        }
        return block;
    }

    private static void requireLimits(int lanes, int experts, int blockSize, ExpertMap map) {
        if (experts < 1 || experts > MAX_EXPERTS) {
            throw new BadInputException("experts is " + experts + ", expected 1 to " + MAX_EXPERTS);
        }
        if (blockSize < 1) {
            throw new BadInputException("blockSize is " + blockSize + ", expected at least 1");
        }
        if (lanes < 0 || maxBlocks(lanes, experts, blockSize) * blockSize > Integer.MAX_VALUE) {
            throw new BadInputException(
                    "lanes is " + lanes + ", expected 0 to 2^31 - 1 places of blocks of " + blockSize);
        }
        if (map != null && map.experts() != experts) {
            throw new BadInputException("expert map has " + map.experts() + " entries, expected " + experts);
        }
    }
}
