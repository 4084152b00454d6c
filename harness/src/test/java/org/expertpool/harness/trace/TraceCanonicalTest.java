package org.expertpool.harness.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class TraceCanonicalTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "1, 1, 1, false, 1",
        "1, 1, 1, true, 2",
        "3, 7, 2, true, 3",
        "3, 7, 3, false, 4",
        "5, 32, 4, true, 5",
        "2, 65535, 10, true, 6",
        "1, 70, 70, false, 7",
        "48, 512, 10, true, 8"
    })
    void whatIsWrittenIsReadThroughWindowsOfAnySize(int layers, int experts, int topK, boolean weighted, long seed)
            throws IOException {
        TraceShape shape = new TraceShape(layers, experts, topK, weighted);
        List<RandomForwards.Forward> forwards = RandomForwards.make(shape, 40, seed);
        Path file = write("t.trace", shape, "made by hand, seed " + seed, forwards);

        for (int shift : new int[] {6, 7, 12, ByteWindows.MAPPED_SHIFT}) {
            try (MappedTrace trace = MappedTrace.open(file, shift)) {
                assertThat(trace.shape()).isEqualTo(shape);
                assertThat(trace.forwards()).isEqualTo(40);
                assertThat(trace.source()).isEqualTo("made by hand, seed " + seed);
                assertThat(RandomForwards.read(trace)).isEqualTo(forwards);
            }
        }
        InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, "heap");
        RandomForwards.feed(forwards, builder);
        assertThat(RandomForwards.read(builder.build())).isEqualTo(forwards);
    }

    /** The bytes are those the format's table gives, put down here by hand. */
    @Test
    void bytesAreAsDocumented() throws IOException {
        TraceShape shape = new TraceShape(1, 65_535, 3, true);
        Path file = folder.resolve("bytes.trace");
        try (TraceWriter writer = TraceWriter.create(file, shape, "héllo")) {
            writer.forward(
                    new ForwardHeader(true, true, 258, 1), new int[] {65_534, 1, 256}, new float[] {1f, 0.5f, 0f});
            writer.commit();
        }
        String expected = "89455054520d0a1a 01000000 01000000 01000000 ffff0000 03000000 06000000"
                + "0100000000000000 5800000000000000 68c3a96c6c6f0000"
                + "03000000 01000000 02010000 feff01000001 0000 0000803f 0000003f 00000000";
        byte[] bytes = Files.readAllBytes(file);
        byte[] wanted = HexFormat.of().parseHex(expected.replace(" ", ""));
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(HexFormat.of().formatHex(wanted));
        assertThat(wanted).hasSize(56 + 12 + 6 + 2 + 12).hasSize(0x58);
    }

    @Test
    void everyTruncationIsOneErrorWithItsByte() throws IOException {
        TraceShape shape = new TraceShape(2, 5, 2, true);
        Path file = write("whole.trace", shape, "s", RandomForwards.make(shape, 4, 11));
        byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length; length++) {
            Path cut = folder.resolve("cut.trace");
            Files.write(cut, Arrays.copyOf(whole, length));
            assertThatThrownBy(() -> MappedTrace.open(cut))
                    .as("cut to %d bytes", length)
                    .isInstanceOf(BadInputException.class)
                    .hasMessageMatching(".*cut\\.trace byte \\d+: .*" + length + " bytes, expected .*");
        }
        Path longer = folder.resolve("longer.trace");
        Files.write(longer, Arrays.copyOf(whole, whole.length + 1));
        assertThatThrownBy(() -> MappedTrace.open(longer))
                .hasMessageContaining("the file has " + (whole.length + 1) + " bytes, expected " + whole.length);
    }

    /** Every cut, with the header's length made to fit: the records themselves must notice. */
    @Test
    void everyTruncationIsNoticedByTheRecordsToo() throws IOException {
        TraceShape shape = new TraceShape(2, 5, 2, true);
        byte[] whole = Files.readAllBytes(write("whole.trace", shape, "s", RandomForwards.make(shape, 4, 11)));
        for (int length = RecordLayout.headerBytes(1); length < whole.length; length++) {
            byte[] bytes = Arrays.copyOf(whole, length);
            little(bytes).putLong(RecordLayout.FILE_BYTES_OFFSET, length);
            Path cut = Files.write(folder.resolve("cut.trace"), bytes);
            assertThatThrownBy(() -> {
                        try (MappedTrace trace = MappedTrace.open(cut)) {
                            RandomForwards.read(trace);
                        }
                    })
                    .as("cut to %d bytes", length)
                    .isInstanceOf(BadInputException.class)
                    .hasMessageMatching(".*cut\\.trace byte \\d+: .*, expected .*");
        }
    }

    /**
     * A trace of decode and prefill forwards of the real shape, many times larger than the window, against the same seeded
     * numbers drawn again.
     */
    @Test
    void aLongTraceStreamsThroughSmallWindows() throws IOException {
        TraceShape shape = new TraceShape(48, 512, 10, false);
        Path file = folder.resolve("long.trace");
        int forwards = 20_000;
        try (TraceWriter writer = TraceWriter.create(file, shape, "long")) {
            drawLong(shape, forwards, writer);
            writer.commit();
        }
        assertThat(Files.size(file)).isGreaterThan(300L << 16);
        try (MappedTrace trace = MappedTrace.open(file, 16)) {
            ForwardCursor cursor = trace.cursor();
            int[] read = new int[64 * shape.topK()];
            drawLong(shape, forwards, (header, ids, weights) -> {
                assertThat(cursor.next()).isTrue();
                assertThat(ForwardHeader.of(cursor)).isEqualTo(header);
                int lanes = header.tokens() * shape.topK();
                for (int layer = 0; layer < shape.layers(); layer++) {
                    cursor.ids(layer, read);
                    if (!Arrays.equals(read, 0, lanes, ids, layer * lanes, (layer + 1) * lanes)) {
                        throw new AssertionError("forward " + cursor.forward() + " layer " + layer + " differs");
                    }
                }
            });
            assertThat(cursor.forward()).isEqualTo(forwards - 1);
            assertThat(cursor.next()).isFalse();
        }
    }

    private static void drawLong(TraceShape shape, int forwards, ForwardSink sink) {
        SplittableRandom random = new SplittableRandom(20);
        int[] ids = new int[shape.layers() * 64 * shape.topK()];
        int position = 0;
        for (int forward = 0; forward < forwards; forward++) {
            boolean starts = forward % 500 == 0;
            int tokens = starts ? 1 + random.nextInt(64) : 1;
            position = starts ? 0 : position;
            for (int lane = 0; lane < shape.layers() * tokens * shape.topK(); lane++) {
                // Slots of a token draw from ranges of their own, hence never the same expert.
                ids[lane] = lane % shape.topK() * 51 + random.nextInt(51);
            }
            sink.forward(new ForwardHeader(starts, starts, position, tokens), ids, null);
            position += tokens;
        }
    }

    static Stream<Arguments> damage() {
        // The file: header of 56 bytes, then two one-token forwards of 2 layers, 5 experts, top 2: 12 + 8 + 16 = 36.
        return Stream.of(
                bad("byte 0: no canonical trace starts like this", b -> b.put(0, (byte) 'x')),
                bad("byte 8: version is 2, expected 1", b -> b.putInt(8, 2)),
                bad("byte 12: flags is 3, expected 0 to 1", b -> b.putInt(12, 3)),
                bad("byte 16: layers is 0, expected 1 to 65535", b -> b.putInt(16, 0)),
                bad("byte 20: experts is 65536, expected 1 to 65535", b -> b.putInt(20, 65_536)),
                bad("byte 24: topK is 6, expected 1 to 5", b -> b.putInt(24, 6)),
                bad("byte 28: source bytes is 4294967295, expected 0 to 65536", b -> b.putInt(28, -1)),
                bad("byte 32: 4 forwards, expected at most 2 in 128 bytes", b -> b.putLong(32, 4)),
                bad("byte 32: 18446744073709551615 forwards, expected", b -> b.putLong(32, -1)),
                bad("byte 92: 36 bytes after the last forward, expected the end", b -> b.putLong(32, 1)),
                bad("byte 48: source text is not UTF-8", b -> b.put(48, (byte) 0xFF)),
                bad("byte 56: forward 0 has flags 0x4, expected bits 0 and 1", b -> b.putInt(56, 4)),
                bad("byte 64: forward 0 starts no sequence", b -> b.putInt(56, 0)),
                bad("byte 60: forward 0 has 0 tokens, expected 1 to", b -> b.putInt(60, 0)),
                bad("byte 60: forward 0 has 4294967295 tokens, expected 1 to", b -> b.putInt(60, -1)),
                bad("byte 56: forward 0 of 9 tokens ends at byte", b -> b.putInt(60, 9)),
                bad("byte 100: forward 1 is at position 3, expected 2 or the start", b -> b.putInt(100, 3)),
                bad("byte 100: forward 1 is at position 1, expected 2 or the start", b -> b.putInt(100, 1)),
                bad("byte 100: forward 1 is at position 4294967295, expected at most", b -> b.putInt(100, -1)),
                bad("byte 70: expert id 5 in forward 0 layer 0, expected 0 to 4", b -> b.putShort(70, (short) 5)),
                bad("byte 70: expert id 1 a second time in forward 0 layer 0", b -> b.putShort(70, (short) 1)),
                bad("byte 110: expert id 65535 in forward 1 layer 1", b -> b.putShort(110, (short) -1)),
                bad("byte 76: router weight NaN in forward 0 layer 0", b -> b.putFloat(76, Float.NaN)),
                bad("byte 88: router weight -1.0 in forward 0 layer 1", b -> b.putFloat(88, -1f)),
                bad("byte 124: router weight Infinity in forward 1", b -> b.putFloat(124, Float.POSITIVE_INFINITY)));
    }

    private static Arguments bad(String message, Consumer<ByteBuffer> edit) {
        return Arguments.of(message, edit);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("damage")
    void damageIsOneErrorWithItsByte(String message, Consumer<ByteBuffer> edit) throws IOException {
        TraceShape shape = new TraceShape(2, 5, 2, true);
        Path file = folder.resolve("d.trace");
        try (TraceWriter writer = TraceWriter.create(file, shape, "s")) {
            float[] weights = {0.5f, 0.5f, 0.5f, 0.5f};
            writer.forward(ForwardHeader.decode(true, 1), new int[] {1, 0, 2, 3}, weights);
            writer.forward(ForwardHeader.decode(false, 2), new int[] {0, 2, 4, 0}, weights);
            writer.commit();
        }
        byte[] bytes = Files.readAllBytes(file);
        assertThat(bytes).hasSize(128);
        edit.accept(little(bytes));
        Files.write(file, bytes);
        assertThatThrownBy(() -> {
                    try (MappedTrace trace = MappedTrace.open(file)) {
                        RandomForwards.read(trace);
                    }
                })
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("d.trace " + message);
    }

    @Test
    void anAbandonedWriterLeavesTheOldFileAndNothingElse() throws IOException {
        Path file = Files.writeString(folder.resolve("t.trace"), "old");
        TraceShape shape = new TraceShape(1, 4, 2, false);
        try (TraceWriter writer = TraceWriter.create(file, shape, "s")) {
            writer.forward(ForwardHeader.decode(true, 0), new int[] {1, 2}, null);
        }
        assertThat(Files.readString(file)).isEqualTo("old");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    static Stream<Arguments> refused() {
        float[] w = {0.5f, 0.5f};
        return Stream.of(
                Arguments.of("forward 1 is at position 3, expected 1", 3, new int[] {1, 2}, w),
                Arguments.of("forward 1 is at position 0, expected 1", 0, new int[] {1, 2}, w),
                Arguments.of("has 1 ids, expected 2", 1, new int[] {1}, w),
                Arguments.of("has expert id -1, expected 0 to 3", 1, new int[] {1, -1}, w),
                Arguments.of("has expert id 4, expected 0 to 3", 1, new int[] {4, 1}, w),
                Arguments.of("has expert id 1 twice", 1, new int[] {1, 1}, w),
                Arguments.of("has no weights", 1, new int[] {1, 2}, null),
                Arguments.of("has 1 weights, expected 2", 1, new int[] {1, 2}, new float[] {1f}),
                Arguments.of("router weight NaN", 1, new int[] {1, 2}, new float[] {1f, Float.NaN}),
                Arguments.of("router weight -1.0", 1, new int[] {1, 2}, new float[] {-1f, 1f}));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refused")
    void aForwardThatTheTraceCannotHoldIsRefused(String message, int position, int[] ids, float[] weights) {
        InMemoryTrace.Builder builder = InMemoryTrace.builder(new TraceShape(1, 4, 2, true), "s");
        ForwardHeader second = ForwardHeader.decode(false, position);
        assertThatThrownBy(() -> builder.forward(second, ids, weights)).hasMessageContaining("starts no sequence");
        builder.forward(ForwardHeader.decode(true, 0), new int[] {0, 3}, new float[] {1f, 0f});
        assertThatThrownBy(() -> builder.forward(second, ids, weights))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
        assertThat(RandomForwards.read(builder.build())).hasSize(1);
    }

    @Test
    void cursorsAreIndependentAndWeightlessLanesWeighOne() {
        InMemoryTrace trace = InMemoryTrace.builder(new TraceShape(2, 4, 1, false), "s")
                .decode(true, 0, 1, 2)
                .decode(false, 1, 3, 0)
                .build();
        ForwardCursor ahead = trace.cursor();
        ForwardCursor behind = trace.cursor();
        assertThat(ahead.next()).isTrue();
        assertThat(ahead.next()).isTrue();
        assertThat(behind.next()).isTrue();
        int[] ids = new int[1];
        assertThat(ahead.ids(0, ids)).isEqualTo(1);
        assertThat(ids).containsExactly(3);
        assertThat(behind.ids(1, ids)).isEqualTo(1);
        assertThat(ids).containsExactly(2);
        float[] weights = {7f, 7f};
        assertThat(ahead.weights(1, weights)).isEqualTo(1);
        assertThat(weights).containsExactly(1f, 7f);
        assertThat(ahead.next()).isFalse();
        assertThat(ahead.next()).isFalse();
        assertThatThrownBy(() -> ahead.ids(0, ids)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> behind.ids(2, ids)).hasMessageContaining("layer is 2, expected 0 to 1");
    }

    private Path write(String name, TraceShape shape, String source, List<RandomForwards.Forward> forwards)
            throws IOException {
        Path file = folder.resolve(name);
        try (TraceWriter writer = TraceWriter.create(file, shape, source)) {
            RandomForwards.feed(forwards, writer);
            writer.commit();
        }
        return file;
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
