package org.expertpool.harness.trace;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Read-only little-endian bytes with 64-bit offsets, cut into windows of a power of two, since one Java buffer ends below
 * 2 GiB. Numbers lie at multiples of their size, so none straddles two windows. Safe for several readers.
 */
final class ByteWindows {
    /** Window of a mapped file: 1 GiB. */
    static final int MAPPED_SHIFT = 30;

    private final ByteBuffer[] windows;
    private final long size;
    private final int shift;
    private final int mask;

    private ByteWindows(ByteBuffer[] windows, long size, int shift) {
        this.windows = windows;
        this.size = size;
        this.shift = shift;
        this.mask = (1 << shift) - 1;
        for (ByteBuffer window : windows) {
            window.order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    /** Maps a whole file in windows of {@code 2^shift} bytes, shift 3 to 30. Unmapped when no longer reachable. */
    static ByteWindows map(Path file, int shift) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long size = channel.size();
            long window = 1L << shift;
            ByteBuffer[] windows = new ByteBuffer[Math.toIntExact((size + window - 1) >> shift)];
            for (int i = 0; i < windows.length; i++) {
                long from = i * window;
                windows[i] = channel.map(FileChannel.MapMode.READ_ONLY, from, Math.min(window, size - from));
            }
            return new ByteWindows(windows, size, shift);
        }
    }

    /** Wraps heap buffers, each full with {@code 2^shift} bytes but for the last. */
    static ByteWindows of(List<ByteBuffer> buffers, int shift) {
        long size = buffers.stream().mapToLong(ByteBuffer::limit).sum();
        return new ByteWindows(buffers.toArray(ByteBuffer[]::new), size, shift);
    }

    long size() {
        return size;
    }

    int getInt(long offset) {
        return window(offset).getInt(within(offset));
    }

    long getLong(long offset) {
        return window(offset).getLong(within(offset));
    }

    void copyBytes(long offset, byte[] out) {
        for (int i = 0; i < out.length; i++) {
            out[i] = window(offset + i).get(within(offset + i));
        }
    }

    /** Copies {@code count} unsigned 16-bit numbers. */
    void copyUnsignedShorts(long offset, int count, int[] out) {
        int done = 0;
        while (done < count) {
            long at = offset + 2L * done;
            ByteBuffer window = window(at);
            int from = within(at);
            int here = Math.min(count - done, (window.limit() - from) / Short.BYTES);
            for (int i = 0; i < here; i++) {
                out[done + i] = window.getShort(from + 2 * i) & 0xFFFF;
            }
            done += here;
        }
    }

    /** Copies {@code count} 32-bit floats. */
    void copyFloats(long offset, int count, float[] out) {
        int done = 0;
        while (done < count) {
            long at = offset + 4L * done;
            ByteBuffer window = window(at);
            int from = within(at);
            int here = Math.min(count - done, (window.limit() - from) / Float.BYTES);
            for (int i = 0; i < here; i++) {
                out[done + i] = window.getFloat(from + 4 * i);
            }
            done += here;
        }
    }

    private ByteBuffer window(long offset) {
        return windows[(int) (offset >>> shift)];
    }

    private int within(long offset) {
        return (int) offset & mask;
    }
}
