package org.expertpool.pool.route;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.expertpool.pool.BadInputException;

/**
 * How the missing experts of one layer call cross the link: each row once, in ascending order, through a ring of device
 * rows, in groups that are computed as they arrive. The i-th missing expert lands in ring row {@code i mod ringRows}.
 */
public final class StreamPlan {
    /** No earlier group's rows are overwritten. */
    public static final int NOTHING = -1;

    /**
     * Sizes of ring and groups. Groups are of {@code groupRows}; towards the end each takes half of what is left, down
     * to {@code lastRows}, so that little is computed after the last row has arrived.
     *
     * @param ringRows rows of the ring, at least {@code groupRows}
     * @param groupRows most rows of a group
     * @param lastRows size below which a group is not halved further, at least 1
     */
    public record Shape(int ringRows, int groupRows, int lastRows) {
        /** 128 rows, 0.33 GiB at 2,764,800 bytes a row, in two halves: one is computed while the other is filled. */
        public static final Shape DEFAULT = new Shape(128, 64, 4);

        public Shape {
            if (lastRows < 1 || groupRows < lastRows || ringRows < groupRows) {
                throw new BadInputException("stream: lastRows is " + lastRows + ", groupRows " + groupRows
                        + ", ringRows " + ringRows + "; expected 1 <= lastRows <= groupRows <= ringRows");
            }
        }

        int rowsOfNext(int left) {
            return Math.min(left, Math.min(groupRows, Math.max(lastRows, (left + 1) / 2)));
        }
    }

    /** Neighbouring host rows for neighbouring ring rows: one copy. */
    public record Run(int hostRow, int ringRow, int rows) {}

    /**
     * What is copied, then computed, together.
     *
     * @param from first place in the list of missing experts
     * @param to place after the last
     * @param overwrites the latest earlier group with a row in a ring row of this one, which must have been computed
     *     before this one is copied; {@link #NOTHING} where there is none
     * @param runs its copies, in order
     */
    public record Group(int from, int to, int overwrites, List<Run> runs) {
        public Group {
            runs = List.copyOf(runs);
        }
    }

    private StreamPlan() {}

    /**
     * Cuts the list of missing experts into groups.
     *
     * @param missing experts, ascending, in the first {@code count} places
     */
    public static List<Group> cut(int[] missing, int count, Shape shape) {
        Objects.checkFromIndexSize(0, count, missing.length);
        List<Group> groups = new ArrayList<>();
        int[] groupOf = new int[count]; // by place in the list
        for (int from = 0; from < count; ) {
            int to = from + shape.rowsOfNext(count - from);
            int replaced = to - 1 - shape.ringRows(); // place of the last row that the group overwrites
            int overwrites = replaced < 0 ? NOTHING : groupOf[replaced];
            for (int i = from; i < to; i++) {
                groupOf[i] = groups.size();
            }
            groups.add(new Group(from, to, overwrites, runs(missing, from, to, shape.ringRows())));
            from = to;
        }
        return groups;
    }

    private static List<Run> runs(int[] missing, int from, int to, int ringRows) {
        List<Run> runs = new ArrayList<>();
        for (int start = from; start < to; ) {
            int end = start + 1;
            while (end < to && missing[end] == missing[end - 1] + 1 && end % ringRows != 0) {
                end++;
            }
            runs.add(new Run(missing[start], start % ringRows, end - start));
            start = end;
        }
        return runs;
    }
}
