package org.expertpool.pool.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file mapped read-only, larger than one buffer if need be. Windows begin every {@code stride} bytes and reach up to
 * twice as far, so that any run of at most {@code stride} bytes lies within one: a map per tensor would run into the
 * system's limit of maps. Unmapped when no longer reachable.
 */
final class MappedFile {
    /** Windows of 1 GiB and as much again, less the byte that a buffer lacks. */
    static final int STRIDE_BYTES = 1 << 30;

    private final Path path;
    private final long size;
    private final int stride;
    private final ByteBuffer[] windows;

    private MappedFile(Path path, long size, int stride, ByteBuffer[] windows) {
        this.path = path;
        this.size = size;
        this.stride = stride;
        this.windows = windows;
    }

    static MappedFile map(Path path) throws IOException {
        return map(path, STRIDE_BYTES);
    }

    static MappedFile map(Path path, int stride) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            long size = channel.size();
            ByteBuffer[] windows = new ByteBuffer[Math.toIntExact((size + stride - 1) / stride)];
            for (int i = 0; i < windows.length; i++) {
                long from = (long) i * stride;
                long bytes = Math.min(Math.min(2L * stride, Integer.MAX_VALUE), size - from);
                windows[i] = channel.map(FileChannel.MapMode.READ_ONLY, from, bytes);
            }
            return new MappedFile(path, size, stride, windows);
        }
    }

    Path path() {
        return path;
    }

    long size() {
        return size;
    }

    /** Whether a run of so many bytes can be had as one buffer, wherever it begins. */
    boolean fits(long bytes) {
        return bytes < stride;
    }

    /** A run of bytes as a new little-endian view: position 0, limit {@code bytes}. */
    ByteBuffer slice(long offset, long bytes) {
        if (offset < 0 || bytes < 0 || bytes > size - offset || !fits(bytes)) {
            throw new IndexOutOfBoundsException(bytes + " bytes from " + offset + " of " + size + " in " + path);
        }
        if (bytes == 0) {
            return ByteBuffer.allocate(0);
        }
        int from = (int) (offset % stride);
        return windows[(int) (offset / stride)].slice(from, (int) bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
