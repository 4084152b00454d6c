package org.expertpool.harness.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.expertpool.pool.BadInputException;

/**
 * The file header of the canonical form; bytes as {@link RecordLayout} says.
 *
 * @param shape layers, experts, topK, weights
 * @param forwards forwards in the file
 * @param fileBytes bytes of the whole file
 * @param source where the routing comes from, in words
 */
record TraceHeader(TraceShape shape, long forwards, long fileBytes, String source) {

    /** The header as bytes, padding included. */
    ByteBuffer encode() {
        byte[] text = sourceText(source);
        ByteBuffer bytes =
                ByteBuffer.allocate(RecordLayout.headerBytes(text.length)).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(RecordLayout.MAGIC);
        bytes.putInt(RecordLayout.VERSION);
        bytes.putInt(shape.weighted() ? RecordLayout.FLAG_WEIGHTED : 0);
        bytes.putInt(shape.layers());
        bytes.putInt(shape.experts());
        bytes.putInt(shape.topK());
        bytes.putInt(text.length);
        bytes.putLong(forwards);
        bytes.putLong(fileBytes);
        bytes.put(text);
        return bytes.rewind();
    }

    /** Reads and checks the header at the start of a file's bytes. */
    static TraceHeader decode(String file, ByteWindows bytes) {
        if (bytes.size() < RecordLayout.SOURCE_OFFSET) {
            throw bad(file, 0, "the file has " + bytes.size() + " bytes", "a header of " + RecordLayout.SOURCE_OFFSET);
        }
        if (bytes.getLong(0) != RecordLayout.MAGIC) {
            throw bad(file, 0, "no canonical trace starts like this", "89 'EPTR' 0d 0a 1a");
        }
        expect(file, "version", bytes, RecordLayout.VERSION_OFFSET, RecordLayout.VERSION, RecordLayout.VERSION);
        int flags = expect(file, "flags", bytes, RecordLayout.FLAGS_OFFSET, 0, RecordLayout.FLAG_WEIGHTED);
        int layers = expect(file, "layers", bytes, RecordLayout.LAYERS_OFFSET, 1, TraceShape.MAX);
        int experts = expect(file, "experts", bytes, RecordLayout.EXPERTS_OFFSET, 1, TraceShape.MAX);
        int topK = expect(file, "topK", bytes, RecordLayout.TOP_K_OFFSET, 1, experts);
        long fileBytes = bytes.getLong(RecordLayout.FILE_BYTES_OFFSET);
        if (fileBytes != bytes.size()) {
            throw bad(
                    file,
                    Math.min(bytes.size(), Math.max(fileBytes, 0)),
                    "the file has " + bytes.size() + " bytes",
                    fileBytes + " (truncated, or bytes were added)");
        }
        int sourceBytes =
                expect(file, "source bytes", bytes, RecordLayout.SOURCE_BYTES_OFFSET, 0, RecordLayout.MAX_SOURCE_BYTES);
        TraceShape shape = new TraceShape(layers, experts, topK, flags == RecordLayout.FLAG_WEIGHTED);
        long start = RecordLayout.headerBytes(sourceBytes);
        long room = start > fileBytes ? -1 : (fileBytes - start) / RecordLayout.forwardBytes(shape, 1);
        long forwards = bytes.getLong(RecordLayout.FORWARDS_OFFSET);
        if (forwards < 0 || forwards > room) {
            throw bad(
                    file,
                    RecordLayout.FORWARDS_OFFSET,
                    Long.toUnsignedString(forwards) + " forwards",
                    "at most " + Math.max(room, 0) + " in " + fileBytes + " bytes");
        }
        return new TraceHeader(shape, forwards, fileBytes, source(file, bytes, sourceBytes));
    }

    /** Offset of the first forward. */
    long start() {
        return RecordLayout.headerBytes(sourceText(source).length);
    }

    static BadInputException bad(String file, long offset, String found, String expected) {
        return new BadInputException(file + " byte " + offset + ": " + found + ", expected " + expected);
    }

    private static byte[] sourceText(String source) {
        byte[] text = source.getBytes(StandardCharsets.UTF_8);
        if (text.length > RecordLayout.MAX_SOURCE_BYTES) {
            throw new IllegalArgumentException(
                    "source text has " + text.length + " bytes, expected at most " + RecordLayout.MAX_SOURCE_BYTES);
        }
        return text;
    }

    private static int expect(String file, String field, ByteWindows bytes, int offset, int low, int high) {
        int value = bytes.getInt(offset);
        if (value < low || value > high) {
            String range = low == high ? Integer.toString(low) : low + " to " + high;
            throw bad(file, offset, field + " is " + Integer.toUnsignedString(value), range);
        }
        return value;
    }

    private static String source(String file, ByteWindows bytes, int sourceBytes) {
        byte[] text = new byte[sourceBytes];
        bytes.copyBytes(RecordLayout.SOURCE_OFFSET, text);
        try {
            CharBuffer decoded = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text));
            return decoded.toString();
        } catch (CharacterCodingException wrong) {
            throw new BadInputException(
                    file + " byte " + RecordLayout.SOURCE_OFFSET + ": source text is not UTF-8, expected UTF-8", wrong);
        }
    }
}
