package org.expertpool.harness.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A trace on the heap, in the canonical records: for tests and small imports. Immutable. */
public final class InMemoryTrace implements RoutingTrace {
    private final TraceShape shape;
    private final String source;
    private final ByteWindows bytes;
    private final long forwards;

    private InMemoryTrace(TraceShape shape, String source, ByteWindows bytes, long forwards) {
        this.shape = shape;
        this.source = source;
        this.bytes = bytes;
        this.forwards = forwards;
    }

    public static Builder builder(TraceShape shape, String source) {
        return new Builder(shape, source);
    }

    @Override
    public TraceShape shape() {
        return shape;
    }

    @Override
    public long forwards() {
        return forwards;
    }

    @Override
    public String source() {
        return source;
    }

    @Override
    public ForwardCursor cursor() {
        return new RecordCursor(source, shape, bytes, 0, forwards);
    }

    @Override
    public void close() {
        // Heap only: nothing to release.
    }

    /** Collects forwards; each is checked as it comes. */
    public static final class Builder implements ForwardSink {
        private final TraceShape shape;
        private final String source;
        private final List<ByteBuffer> buffers = new ArrayList<>();
        private final RecordEncoder encoder;

        private Builder(TraceShape shape, String source) {
            this.shape = shape;
            this.source = source;
            this.encoder = new RecordEncoder(
                    shape,
                    full -> buffers.add(
                            ByteBuffer.allocate(full.remaining()).put(full).flip()));
        }

        @Override
        public void forward(ForwardHeader header, int[] ids, float[] weights) {
            encoder.forward(header, ids, weights);
        }

        /** Adds a one-token decode forward without weights; {@code ids} are {@code [layers][topK]}. */
        public Builder decode(boolean startsSequence, int position, int... ids) {
            encoder.forward(ForwardHeader.decode(startsSequence, position), ids, null);
            return this;
        }

        /** The trace so far; the builder is spent. */
        public InMemoryTrace build() {
            try {
                encoder.finish();
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
            ByteWindows windows = ByteWindows.of(buffers, RecordEncoder.BUFFER_SHIFT);
            return new InMemoryTrace(shape, source, windows, encoder.forwards());
        }
    }
}
