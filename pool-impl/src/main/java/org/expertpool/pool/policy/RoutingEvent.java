package org.expertpool.pool.policy;

/**
 * One layer of one forward, as a placement policy sees it: the distinct valid experts in the order of first occurrence
 * over the lanes. Reused from event to event by whoever reads the trace; plain fields, since this sits in the innermost
 * loop. Arrays are {@code [planner width]}, of which the first {@code size} entries count.
 */
public final class RoutingEvent {
    /** {@link #nextUse} of an expert that is not selected again. */
    public static final int NEVER = Integer.MAX_VALUE;

    public int layer;
    public int size;

    /** Expert ids. */
    public final int[] experts;

    /** Router weight of each expert's first lane. */
    public final float[] weights;

    /**
     * Number of the next event that selects the same expert of this layer, or {@link #NEVER}. Filled for clairvoyant
     * policies alone.
     */
    public final int[] nextUse;

    public RoutingEvent(int maxSize) {
        experts = new int[maxSize];
        weights = new float[maxSize];
        nextUse = new int[maxSize];
    }
}
