package org.expertpool.harness.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Seeded damage to good files: each reads as some trace or is one line of bad input, never anything else. */
class TraceFuzzTest {
    private static final int FILES_PER_FORMAT = 400;
    private static final byte[] TEXT = "0123456789-.,eE\"[]{}: \n\rxw".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(TraceFormat.class)
    void damageIsBadInputOrAnotherTrace(TraceFormat format) throws IOException {
        TraceShape shape = new TraceShape(2, 7, 2, true);
        InMemoryTrace.Builder builder = InMemoryTrace.builder(shape, "fuzz");
        float[] weights = {0.5f, 0.25f, 1f, 0.125f};
        for (int forward = 0; forward < 3; forward++) {
            builder.forward(ForwardHeader.decode(forward == 0, forward), new int[] {forward, 6, 3, forward}, weights);
            weights[0] += 0.0625f;
        }
        Path file = folder.resolve("t");
        Traces.write(builder.build(), file, format);
        byte[] good = Files.readAllBytes(file);
        SplittableRandom random = new SplittableRandom(format.label().hashCode());
        int bad = 0;
        for (int i = 0; i < FILES_PER_FORMAT; i++) {
            Files.write(file, damage(good, format, random));
            try (RoutingTrace trace = Traces.open(file)) {
                Traces.copy(trace, (header, ids, read) -> assertThat(ids).isNotEmpty());
            } catch (BadInputException expected) {
                bad++;
                assertThat(expected).hasMessageMatching("(?s)\\Q" + file + "\\E[^\\r\\n]*");
            }
        }
        assertThat(bad).isBetween(FILES_PER_FORMAT / 4, FILES_PER_FORMAT - 1);
    }

    private static byte[] damage(byte[] good, TraceFormat format, SplittableRandom random) {
        byte[] bytes = good.clone();
        int changes = 1 + random.nextInt(3);
        for (int change = 0; change < changes; change++) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(4)) {
                case 0 -> bytes = Arrays.copyOf(bytes, Math.max(1, at));
                case 1 -> {
                    // One byte gone.
                    System.arraycopy(bytes, at + 1, bytes, at, bytes.length - at - 1);
                    bytes = Arrays.copyOf(bytes, Math.max(1, bytes.length - 1));
                }
                default ->
                    bytes[at] = format == TraceFormat.CANONICAL
                            ? (byte) random.nextInt(256)
                            : TEXT[random.nextInt(TEXT.length)];
            }
        }
        return bytes;
    }
}
