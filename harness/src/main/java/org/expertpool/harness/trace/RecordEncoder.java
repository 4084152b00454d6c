package org.expertpool.harness.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Checks forwards and turns them into records of the canonical form, handed out a full buffer at a time. */
final class RecordEncoder implements ForwardSink {
    /** Takes encoded bytes: a full buffer each time, but for the last. */
    interface Drain {
        void accept(ByteBuffer bytes) throws IOException;
    }

    static final int BUFFER_SHIFT = 16;

    private final TraceShape shape;
    private final Drain drain;
    private final ByteBuffer buffer;
    private final int[] seenAt;
    private int stamp;
    private long forwards;
    private long bytes;
    private int previousPosition;
    private int previousTokens;

    RecordEncoder(TraceShape shape, Drain drain) {
        this.shape = shape;
        this.drain = drain;
        this.buffer = ByteBuffer.allocate(1 << BUFFER_SHIFT).order(ByteOrder.LITTLE_ENDIAN);
        this.seenAt = new int[shape.experts()];
    }

    long forwards() {
        return forwards;
    }

    /** Bytes encoded so far. */
    long bytes() {
        return bytes;
    }

    @Override
    public void forward(ForwardHeader header, int[] ids, float[] weights) {
        check(header, ids, weights);
        try {
            encode(header, ids, weights);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        forwards++;
        bytes += RecordLayout.forwardBytes(shape, header.tokens());
        previousPosition = header.position();
        previousTokens = header.tokens();
    }

    /** Hands out what is left. */
    void finish() throws IOException {
        flush();
    }

    private void encode(ForwardHeader header, int[] ids, float[] weights) throws IOException {
        int flags = (header.startsSequence() ? RecordLayout.FORWARD_STARTS_SEQUENCE : 0)
                | (header.prefill() ? RecordLayout.FORWARD_PREFILL : 0);
        putInt(flags);
        putInt(header.tokens());
        putInt(header.position());
        int lanes = (int) RecordLayout.lanes(shape, header.tokens());
        for (int lane = 0; lane < lanes; lane++) {
            putShort(ids[lane]);
        }
        if (lanes % 2 != 0) {
            putShort(0);
        }
        if (shape.weighted()) {
            for (int lane = 0; lane < lanes; lane++) {
                putInt(Float.floatToRawIntBits(weights[lane]));
            }
        }
    }

    private void putInt(int value) throws IOException {
        if (!buffer.hasRemaining()) {
            flush();
        }
        buffer.putInt(value);
    }

    private void putShort(int value) throws IOException {
        if (!buffer.hasRemaining()) {
            flush();
        }
        buffer.putShort((short) value);
    }

    private void flush() throws IOException {
        buffer.flip();
        if (buffer.hasRemaining()) {
            drain.accept(buffer);
        }
        buffer.clear();
    }

    private void check(ForwardHeader header, int[] ids, float[] weights) {
        String problem = Continuity.problem(
                forwards == 0, previousPosition, previousTokens, header.startsSequence(), header.position());
        require(problem == null, problem);
        long lanes = RecordLayout.lanes(shape, header.tokens());
        require(ids.length >= lanes, "has " + ids.length + " ids, expected " + lanes);
        require(
                shape.weighted() == (weights != null),
                (weights == null ? "has no weights" : "has weights") + ", expected the opposite for this trace");
        require(
                weights == null || weights.length >= lanes,
                "has " + (weights == null ? 0 : weights.length) + " weights, expected " + lanes);
        for (int lane = 0; lane < lanes; lane++) {
            if (lane % shape.topK() == 0) {
                newStamp();
            }
            int id = ids[lane];
            if (id < 0 || id >= shape.experts()) {
                require(false, "has expert id " + id + ", expected 0 to " + (shape.experts() - 1));
            }
            if (seenAt[id] == stamp) {
                require(false, "has expert id " + id + " twice in one token, expected distinct experts");
            }
            seenAt[id] = stamp;
            if (weights != null && !(weights[lane] >= 0 && weights[lane] < Float.POSITIVE_INFINITY)) {
                require(false, "has router weight " + weights[lane] + ", expected a finite number, at least 0");
            }
        }
    }

    private void require(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalArgumentException("forward " + forwards + " " + problem);
        }
    }

    private void newStamp() {
        stamp++;
        if (stamp == 0) {
            Arrays.fill(seenAt, 0);
            stamp = 1;
        }
    }
}
