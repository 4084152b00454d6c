package org.expertpool.harness.trace;

import java.util.Arrays;
import org.expertpool.pool.BadInputException;

/** Walks records of the canonical form, in a file or on the heap, and checks what it hands out. */
final class RecordCursor implements ForwardCursor {
    private final String name;
    private final TraceShape shape;
    private final ByteWindows bytes;
    private final long forwards;
    private final int[] seenAt;
    private int stamp;
    private long forward = -1;
    private long start;
    private long end;
    private boolean startsSequence;
    private boolean prefill;
    private int tokens;
    private int position;

    /**
     * @param name what errors call the trace: its file
     * @param start offset of the first record
     */
    RecordCursor(String name, TraceShape shape, ByteWindows bytes, long start, long forwards) {
        this.name = name;
        this.shape = shape;
        this.bytes = bytes;
        this.forwards = forwards;
        this.end = start;
        this.seenAt = new int[shape.experts()];
    }

    @Override
    public boolean next() {
        if (forward + 1 >= forwards) {
            if (end != bytes.size()) {
                throw TraceHeader.bad(
                        name, end, bytes.size() - end + " bytes after the last forward", "the end of the file");
            }
            tokens = 0;
            return false;
        }
        start = end;
        forward++;
        if (start + RecordLayout.IDS_OFFSET > bytes.size()) {
            throw TraceHeader.bad(name, start, "the file ends", "forward " + forward + " of " + forwards);
        }
        readHeader();
        end = start + RecordLayout.forwardBytes(shape, tokens);
        if (end > bytes.size()) {
            throw TraceHeader.bad(
                    name,
                    start,
                    "forward " + forward + " of " + tokens + " tokens ends at byte " + end,
                    "at most " + bytes.size());
        }
        return true;
    }

    private void readHeader() {
        int flags = bytes.getInt(start);
        if ((flags & ~(RecordLayout.FORWARD_STARTS_SEQUENCE | RecordLayout.FORWARD_PREFILL)) != 0) {
            throw TraceHeader.bad(
                    name, start, "forward " + forward + " has flags 0x" + Integer.toHexString(flags), "bits 0 and 1");
        }
        int previousPosition = position;
        int previousTokens = tokens;
        startsSequence = (flags & RecordLayout.FORWARD_STARTS_SEQUENCE) != 0;
        prefill = (flags & RecordLayout.FORWARD_PREFILL) != 0;
        tokens = bytes.getInt(start + RecordLayout.TOKENS_OFFSET);
        if (tokens < 1 || (long) tokens * shape.topK() > Integer.MAX_VALUE) {
            throw TraceHeader.bad(
                    name,
                    start + RecordLayout.TOKENS_OFFSET,
                    "forward " + forward + " has " + Integer.toUnsignedString(tokens) + " tokens",
                    "1 to " + Integer.MAX_VALUE / shape.topK());
        }
        position = bytes.getInt(start + RecordLayout.POSITION_OFFSET);
        String wrong = Continuity.problem(
                forward == 0, previousPosition, previousTokens, startsSequence, Integer.toUnsignedLong(position));
        if (wrong != null) {
            long offset = start + RecordLayout.POSITION_OFFSET;
            throw new BadInputException(name + " byte " + offset + ": forward " + forward + " " + wrong);
        }
    }

    @Override
    public long forward() {
        return forward;
    }

    @Override
    public boolean startsSequence() {
        return startsSequence;
    }

    @Override
    public boolean isPrefill() {
        return prefill;
    }

    @Override
    public int tokens() {
        return tokens;
    }

    @Override
    public int position() {
        return position;
    }

    @Override
    public int ids(int layer, int[] ids) {
        int lanes = tokens * shape.topK();
        long offset = start + RecordLayout.IDS_OFFSET + 2L * firstLane(layer);
        bytes.copyUnsignedShorts(offset, lanes, ids);
        for (int lane = 0; lane < lanes; lane++) {
            if (lane % shape.topK() == 0) {
                newStamp();
            }
            int id = ids[lane];
            if (id >= shape.experts()) {
                throw TraceHeader.bad(
                        name,
                        offset + 2L * lane,
                        "expert id " + id + " in forward " + forward + " layer " + layer,
                        "0 to " + (shape.experts() - 1));
            }
            if (seenAt[id] == stamp) {
                throw TraceHeader.bad(
                        name,
                        offset + 2L * lane,
                        "expert id " + id + " a second time in forward " + forward + " layer " + layer,
                        "distinct experts within a token");
            }
            seenAt[id] = stamp;
        }
        return lanes;
    }

    @Override
    public int weights(int layer, float[] weights) {
        int lanes = tokens * shape.topK();
        if (!shape.weighted()) {
            Arrays.fill(weights, 0, lanes, 1.0f);
            return lanes;
        }
        long offset = start + RecordLayout.weightsOffset(shape, tokens) + 4L * firstLane(layer);
        bytes.copyFloats(offset, lanes, weights);
        for (int lane = 0; lane < lanes; lane++) {
            if (!(weights[lane] >= 0 && weights[lane] < Float.POSITIVE_INFINITY)) {
                throw TraceHeader.bad(
                        name,
                        offset + 4L * lane,
                        "router weight " + weights[lane] + " in forward " + forward + " layer " + layer,
                        "a finite number, at least 0");
            }
        }
        return lanes;
    }

    private long firstLane(int layer) {
        if (forward < 0 || tokens < 1) {
            throw new IllegalStateException("the cursor stands on no forward");
        }
        if (layer < 0 || layer >= shape.layers()) {
            throw new IllegalArgumentException("layer is " + layer + ", expected 0 to " + (shape.layers() - 1));
        }
        return (long) layer * tokens * shape.topK();
    }

    private void newStamp() {
        stamp++;
        if (stamp == 0) {
            // 2^32 tokens later old stamps would look new.
            Arrays.fill(seenAt, 0);
            stamp = 1;
        }
    }
}
