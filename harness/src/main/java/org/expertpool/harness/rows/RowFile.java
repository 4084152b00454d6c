package org.expertpool.harness.rows;

import static java.nio.channels.FileChannel.MapMode.READ_ONLY;
import static java.nio.channels.FileChannel.MapMode.READ_WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabSource;

/**
 * Rows in a file, little-endian, to be mapped: a header of 64 KiB, the alphas f32 {@code [L * E, 3]}, then a slab a layer,
 * each from a whole page on. The header holds magic, version, L, E, hidden, width, the CRC-32C of the alphas and of each
 * slab, the words of the content, and its own CRC-32C in its last four bytes.
 */
final class RowFile {
    private static final long MAGIC = 0x53574f524c4f4f50L; // POOLROWS
    private static final int VERSION = 1;
    private static final int HEADER_BYTES = 64 << 10;
    private static final int PAGE_BYTES = 4096;
    private static final int FIXED_BYTES = Long.BYTES + 7 * Integer.BYTES;

    /**
     * A file's rows.
     *
     * @param slabs one a layer, read-only, from a page's start on
     */
    record Mapped(HostSource rows, List<ByteBuffer> slabs) {}

    private final Path file;
    private final RowContent content;
    private final int slabBytes;
    private final int alphaBytes;

    RowFile(Path file, RowContent content) {
        this.file = file;
        this.content = content;
        slabBytes = SlabSource.slabBytes(content.layout(), content.experts());
        alphaBytes = Math.multiplyExact(
                Math.multiplyExact(content.layers(), content.experts()), HostSource.PROJECTIONS * Float.BYTES);
        if (FIXED_BYTES + (content.layers() + 1L) * Integer.BYTES + words().length > HEADER_BYTES) {
            throw bad("layers", content.layers() + ", expected as many as have room in " + HEADER_BYTES + " bytes");
        }
    }

    /** Makes the rows in a file that appears whole or not at all. */
    void make(IntConsumer filled) throws IOException {
        long usable = Files.getFileStore(file.toAbsolutePath().getParent()).getUsableSpace();
        if (bytes() > usable) {
            throw bad("", "takes " + bytes() + " bytes, expected at most the " + usable + " that are free there");
        }
        try (AtomicFile made = AtomicFile.create(file)) {
            FileChannel channel = made.channel();
            channel.write(ByteBuffer.allocate(1), bytes() - 1);
            List<ByteBuffer> slabs = new ArrayList<>();
            for (int layer = 0; layer < content.layers(); layer++) {
                slabs.add(channel.map(READ_WRITE, slabAt(layer), slabBytes));
            }
            HostSource rows = content.maker().make((layer, bytes) -> slabs.get(layer), filled);
            content.requireSame(rows);
            ByteBuffer alphas = ByteBuffer.allocate(alphaBytes).order(ByteOrder.LITTLE_ENDIAN);
            alphas.asFloatBuffer().put(rows.alphas());
            writeAll(channel, header(crc(alphas), crcs(slabs)), 0);
            writeAll(channel, alphas, HEADER_BYTES);
            made.commit();
        }
    }

    /** Maps what is there, and refuses it by name where it is not what it must be, to the last bit. */
    Mapped open() throws IOException {
        try (FileChannel channel = FileChannel.open(file)) {
            if (channel.size() != bytes()) {
                throw bad("", "has " + channel.size() + " bytes, expected " + bytes());
            }
            ByteBuffer header = channel.map(READ_ONLY, 0, HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            ByteBuffer alphas = channel.map(READ_ONLY, HEADER_BYTES, alphaBytes).order(ByteOrder.LITTLE_ENDIAN);
            List<ByteBuffer> slabs = new ArrayList<>();
            for (int layer = 0; layer < content.layers(); layer++) {
                slabs.add(channel.map(READ_ONLY, slabAt(layer), slabBytes).order(ByteOrder.LITTLE_ENDIAN));
            }
            requireHeader(header, alphas, slabs);
            FloatBuffer table = alphas.asFloatBuffer();
            return new Mapped(
                    new SlabSource(content.layout(), content.activations(), content.experts(), slabs, table), slabs);
        }
    }

    private void requireHeader(ByteBuffer header, ByteBuffer alphas, List<ByteBuffer> slabs) {
        int last = HEADER_BYTES - Integer.BYTES;
        if (header.getInt(last) != crc(header.slice(0, last))) {
            throw bad("header", "damaged, expected its CRC-32C at its end");
        }
        // The words come before the sums: another content is said to be that.
        int[] none = new int[content.layers()];
        int sum = FIXED_BYTES - Integer.BYTES;
        int sums = FIXED_BYTES + Integer.BYTES * none.length;
        ByteBuffer expected = header(0, none);
        if (!header.slice(0, sum).equals(expected.slice(0, sum))
                || !header.slice(sums, last - sums).equals(expected.slice(sums, last - sums))) {
            throw bad("header", "of other rows, expected " + content.words());
        }
        if (!header.slice(0, last).equals(header(crc(alphas), crcs(slabs)).slice(0, last))) {
            throw bad("rows", "damaged, expected the CRC-32C in the header");
        }
    }

    /** Words in front of the sums, sums by layer, the alphas' sum, zeros, the header's own sum. */
    private ByteBuffer header(int alphasCrc, int[] slabCrcs) {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(MAGIC).putInt(VERSION).putInt(content.layers()).putInt(content.experts());
        header.putInt(content.layout().hidden()).putInt(content.layout().expertWidth());
        header.putInt(words().length).putInt(0);
        for (int crc : slabCrcs) {
            header.putInt(crc);
        }
        header.put(words());
        int last = HEADER_BYTES - Integer.BYTES;
        header.putInt(FIXED_BYTES - Integer.BYTES, alphasCrc);
        header.putInt(last, crc(header.slice(0, last)));
        return header.clear();
    }

    private byte[] words() {
        return content.words().getBytes(StandardCharsets.UTF_8);
    }

    private long slabAt(int layer) {
        return HEADER_BYTES + pages(alphaBytes) + layer * pages(slabBytes);
    }

    private long bytes() {
        return slabAt(content.layers());
    }

    private static long pages(long bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }

    private static int[] crcs(List<ByteBuffer> slabs) {
        return IntStream.range(0, slabs.size())
                .parallel()
                .map(layer -> crc(slabs.get(layer).duplicate().clear()))
                .toArray();
    }

    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate());
        return (int) crc.getValue();
    }

    private static void writeAll(FileChannel channel, ByteBuffer bytes, long at) throws IOException {
        ByteBuffer from = bytes.duplicate().clear();
        while (from.hasRemaining()) {
            channel.write(from, at + from.position());
        }
    }

    private BadInputException bad(String what, String found) {
        return new BadInputException("host rows " + file + ": " + (what.isEmpty() ? "" : what + ": ") + found);
    }
}
