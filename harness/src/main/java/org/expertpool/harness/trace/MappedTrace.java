package org.expertpool.harness.trace;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A canonical trace file read by memory mapping: a file of any size streams without being loaded, and its pages are the
 * operating system's. The file must not be cut while it is open; closing keeps the mapping until it is unreachable.
 */
public final class MappedTrace implements RoutingTrace {
    private final String name;
    private final TraceHeader header;
    private final ByteWindows bytes;

    private MappedTrace(String name, TraceHeader header, ByteWindows bytes) {
        this.name = name;
        this.header = header;
        this.bytes = bytes;
    }

    /** Opens a file; BadInputException names the byte where its header or length is wrong. */
    public static MappedTrace open(Path file) throws IOException {
        return open(file, ByteWindows.MAPPED_SHIFT);
    }

    /** As {@link #open(Path)} with another name in errors. */
    static MappedTrace open(Path file, String name) throws IOException {
        ByteWindows bytes = ByteWindows.map(file, ByteWindows.MAPPED_SHIFT);
        return new MappedTrace(name, TraceHeader.decode(name, bytes), bytes);
    }

    /** As {@link #open(Path)} with windows of {@code 2^windowShift} bytes. */
    static MappedTrace open(Path file, int windowShift) throws IOException {
        ByteWindows bytes = ByteWindows.map(file, windowShift);
        return new MappedTrace(file.toString(), TraceHeader.decode(file.toString(), bytes), bytes);
    }

    @Override
    public TraceShape shape() {
        return header.shape();
    }

    @Override
    public long forwards() {
        return header.forwards();
    }

    @Override
    public String source() {
        return header.source();
    }

    @Override
    public ForwardCursor cursor() {
        return new RecordCursor(name, header.shape(), bytes, header.start(), header.forwards());
    }

    @Override
    public void close() {
        // Java 17 has no supported way to unmap at once.
    }
}
