package org.expertpool.harness.trace;

/**
 * The canonical trace file, byte by byte. All numbers are little-endian and unsigned; every part starts at a multiple of
 * its own element size, so that no number straddles a mapping window.
 *
 * <pre>
 * file header
 *   0   8  magic 89 'E' 'P' 'T' 'R' 0D 0A 1A
 *   8   4  version, 1
 *  12   4  flags: bit 0 each lane has a router weight; other bits 0
 *  16   4  layers L, 1 to 65,535
 *  20   4  experts E per layer, 1 to 65,535
 *  24   4  topK K, 1 to E
 *  28   4  source bytes S, at most 65,536
 *  32   8  forwards
 *  40   8  bytes of the whole file, this header included
 *  48   S  source text, UTF-8, then zero bytes up to a multiple of 8
 *
 * then, for each forward of T tokens
 *   0   4  flags: bit 0 starts a sequence, bit 1 prefill chunk (decode otherwise); other bits 0
 *   4   4  tokens T, at least 1
 *   8   4  position in the sequence of the first token, at most 2^31 - 1
 *  12      ids u16 [L][T][K], then zero bytes up to a multiple of 4
 *          weights f32 [L][T][K], only with file flag bit 0
 * </pre>
 */
final class RecordLayout {
    static final long MAGIC = 0x1A0A_0D52_5450_4589L;
    static final int VERSION = 1;
    static final int FLAG_WEIGHTED = 1;

    static final int VERSION_OFFSET = 8;
    static final int FLAGS_OFFSET = 12;
    static final int LAYERS_OFFSET = 16;
    static final int EXPERTS_OFFSET = 20;
    static final int TOP_K_OFFSET = 24;
    static final int SOURCE_BYTES_OFFSET = 28;
    static final int FORWARDS_OFFSET = 32;
    static final int FILE_BYTES_OFFSET = 40;
    static final int SOURCE_OFFSET = 48;
    static final int MAX_SOURCE_BYTES = 65_536;

    static final int FORWARD_STARTS_SEQUENCE = 1;
    static final int FORWARD_PREFILL = 2;
    static final int TOKENS_OFFSET = 4;
    static final int POSITION_OFFSET = 8;
    static final int IDS_OFFSET = 12;

    private RecordLayout() {}

    /** Bytes of the file header with a source text of that many bytes. */
    static int headerBytes(int sourceBytes) {
        return (int) roundUp(SOURCE_OFFSET + (long) sourceBytes, Long.BYTES);
    }

    /** Lanes of a forward over all layers. */
    static long lanes(TraceShape shape, int tokens) {
        return (long) shape.layers() * tokens * shape.topK();
    }

    /** Offset of the weights (or of the end, without weights) from the start of a forward. */
    static long weightsOffset(TraceShape shape, int tokens) {
        return roundUp(IDS_OFFSET + lanes(shape, tokens) * Short.BYTES, Float.BYTES);
    }

    /** Bytes of a whole forward. */
    static long forwardBytes(TraceShape shape, int tokens) {
        long weightBytes = shape.weighted() ? lanes(shape, tokens) * Float.BYTES : 0;
        return weightsOffset(shape, tokens) + weightBytes;
    }

    private static long roundUp(long bytes, int multiple) {
        return (bytes + multiple - 1) / multiple * multiple;
    }
}
