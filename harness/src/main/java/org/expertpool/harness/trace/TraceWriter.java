package org.expertpool.harness.trace;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.expertpool.harness.io.AtomicFile;

/**
 * Streams forwards into a canonical trace file. The file appears at {@link #commit}; closing without a commit leaves
 * nothing.
 */
public final class TraceWriter implements ForwardSink, AutoCloseable {
    private final TraceShape shape;
    private final String source;
    private final AtomicFile file;
    private final RecordEncoder encoder;

    private TraceWriter(TraceShape shape, String source, AtomicFile file) {
        this.shape = shape;
        this.source = source;
        this.file = file;
        this.encoder = new RecordEncoder(shape, file::write);
    }

    /** Starts a file; {@code source} says in words where the routing comes from. */
    public static TraceWriter create(Path target, TraceShape shape, String source) throws IOException {
        ByteBuffer placeholder = new TraceHeader(shape, 0, 0, source).encode();
        AtomicFile file = AtomicFile.create(target);
        try {
            file.write(placeholder);
            return new TraceWriter(shape, source, file);
        } catch (IOException | RuntimeException failure) {
            file.close();
            throw failure;
        }
    }

    @Override
    public void forward(ForwardHeader header, int[] ids, float[] weights) {
        encoder.forward(header, ids, weights);
    }

    /** Forwards taken so far. */
    public long forwards() {
        return encoder.forwards();
    }

    /** Completes the header and puts the file in place. */
    public void commit() throws IOException {
        encoder.finish();
        FileChannel channel = file.channel();
        channel.position(0);
        file.write(new TraceHeader(shape, encoder.forwards(), channel.size(), source).encode());
        file.commit();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
