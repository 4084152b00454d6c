package org.expertpool.pool.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * What a rule keeps in device memory beside the planner's tables of pool-semantics 3: fixed arrays that one block can hold,
 * scan and update without atomics. The Java rule of the same name does the same arithmetic, bit for bit.
 *
 * @param arrays in the order of the rule's description; none where the planner's own tables are enough
 */
public record DeviceState(List<Array> arrays) {
    /** Type of an array's entries. */
    public enum Entry {
        BIT,
        I32,
        I64
    }

    /**
     * One array.
     *
     * @param name as the rule's description calls it
     * @param entry type of an entry
     * @param length entries
     */
    public record Array(String name, Entry entry, long length) {
        /** Bytes, bits packed into whole i32 words. */
        public long bytes() {
            return switch (entry) {
                case BIT -> (length + 31) / 32 * Integer.BYTES;
                case I32 -> length * Integer.BYTES;
                case I64 -> length * Long.BYTES;
            };
        }
    }

    public DeviceState {
        arrays = List.copyOf(arrays);
    }

    static DeviceState of(Array... arrays) {
        return new DeviceState(List.of(arrays));
    }

    /** Bytes of all arrays. */
    public long bytes() {
        return arrays.stream().mapToLong(Array::bytes).sum();
    }

    DeviceState with(DeviceState other) {
        List<Array> both = new ArrayList<>(arrays);
        both.addAll(other.arrays);
        return new DeviceState(both);
    }
}
