package org.expertpool.pool.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.HostSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Seeded damage to a valid checkpoint ends in bad input, told in one line, or in a correct load: in no other exception,
 * and in no allocation beyond what the files' size explains.
 */
class CheckpointFuzzTest {
    private static final String FILE = "model.safetensors";
    private static final List<String> JSON_FILES = List.of("config.json", "hf_quant_config.json");
    private static final String JSON_CHARACTERS = "{}[]\":,0129-.eE \\nulltrue\u0000\u00e9";
    private static final List<String> NUMBERS = List.of(
            "-1", "0", "1", "1e3", "2147483648", "4294967296", "9223372036854775807", "18446744073709551616", "NaN");
    private static final long MOST_ALLOCATED = 16L << 20;

    @TempDir
    Path folder;

    private byte[] valid;
    private int headerBytes;

    @BeforeEach
    void writeValid() throws IOException {
        new CheckpointFixture().write(folder);
        valid = Files.readAllBytes(folder.resolve(FILE));
        headerBytes =
                (int) ByteBuffer.wrap(valid).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    @Test
    void survivesFlippedHeaderBytes() throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        Tally tally = new Tally();
        for (int i = 0; i < 600; i++) {
            byte[] damaged = valid.clone();
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                damaged[random.nextInt(8 + headerBytes)] ^= (byte) (1 << random.nextInt(8));
            }
            tally.open(damaged);
        }
        assertThat(tally.refused).isGreaterThan(400);
    }

    @Test
    void survivesOtherLengths() throws IOException {
        SplittableRandom random = new SplittableRandom(2);
        Tally tally = new Tally();
        for (int i = 0; i < 150; i++) {
            byte[] damaged = Arrays.copyOf(valid, random.nextInt(valid.length + 100));
            tally.open(damaged);
            damaged = valid.clone();
            long length = random.nextBoolean()
                    ? headerBytes - 40 + random.nextInt(80)
                    : random.nextLong() >> random.nextInt(64);
            ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN).putLong(length);
            tally.open(damaged);
        }
        assertThat(tally.refused).isGreaterThan(290);
    }

    /** Numbers are replaced, characters inserted, parts cut out or doubled; the length is made to fit. */
    @Test
    void survivesEditedHeaders() throws IOException {
        SplittableRandom random = new SplittableRandom(3);
        String header = new String(valid, 8, headerBytes, StandardCharsets.UTF_8);
        byte[] data = Arrays.copyOfRange(valid, 8 + headerBytes, valid.length);
        Tally tally = new Tally();
        for (int i = 0; i < 600; i++) {
            SafetensorsWriter.write(folder.resolve(FILE), edit(header, random), data);
            tally.open();
        }
        assertThat(tally.refused).isGreaterThan(400);
    }

    @Test
    void survivesEditedConfigurations() throws IOException {
        SplittableRandom random = new SplittableRandom(4);
        Tally tally = new Tally();
        for (String file : JSON_FILES) {
            String text = Files.readString(folder.resolve(file));
            for (int i = 0; i < 400; i++) {
                Files.writeString(folder.resolve(file), edit(text, random));
                tally.open();
            }
            Files.writeString(folder.resolve(file), text);
        }
        assertThat(tally.refused).isBetween(400, 799);
        assertThat(tally.loaded).isPositive();
    }

    @Test
    void survivesEditedIndexes() throws IOException {
        Files.delete(folder.resolve(FILE));
        new CheckpointFixture().writeShards(folder, 2);
        Path index = folder.resolve(TensorIndex.INDEX);
        String text = Files.readString(index);
        SplittableRandom random = new SplittableRandom(5);
        Tally tally = new Tally();
        for (int i = 0; i < 250; i++) {
            Files.writeString(index, edit(text, random));
            tally.open();
        }
        assertThat(tally.refused).isGreaterThan(180);
    }

    private static String edit(String text, SplittableRandom random) {
        int at = random.nextInt(text.length());
        int to = Math.min(text.length(), at + 1 + random.nextInt(random.nextBoolean() ? 4 : 200));
        return switch (random.nextInt(4)) {
            case 0 -> text.substring(0, at) + text.substring(to);
            case 1 -> text.substring(0, to) + text.substring(at);
            case 2 ->
                text.substring(0, at)
                        + JSON_CHARACTERS.charAt(random.nextInt(JSON_CHARACTERS.length()))
                        + text.substring(at + random.nextInt(2));
            default -> otherNumber(text, at, random);
        };
    }

    /** Replaces the first number from a place on. */
    private static String otherNumber(String text, int from, SplittableRandom random) {
        int at = from;
        while (at < text.length() && !Character.isDigit(text.charAt(at))) {
            at++;
        }
        int to = at;
        while (to < text.length() && Character.isDigit(text.charAt(to))) {
            to++;
        }
        return text.substring(0, at) + NUMBERS.get(random.nextInt(NUMBERS.size())) + text.substring(to);
    }

    /** How attempts to open the folder ended. */
    private final class Tally {
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final HostSource expected = CheckpointFixture.EXPERT_ROWS.hostSource();
        private int refused;
        private int loaded;

        void open(byte[] file) throws IOException {
            Files.write(folder.resolve(FILE), file);
            open();
        }

        void open() throws IOException {
            long before = threads.getCurrentThreadAllocatedBytes();
            try {
                requireCorrect(Checkpoint.open(folder));
                loaded++;
            } catch (BadInputException refusal) {
                assertThat(refusal.getMessage()).startsWith(folder.toString()).doesNotContain("\n");
                refused++;
            }
            assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(MOST_ALLOCATED);
        }

        /** Where the damage left the sizes alone, it left the experts alone. */
        private void requireCorrect(Checkpoint checkpoint) {
            if (checkpoint.geometry().experts() != expected.experts()
                    || checkpoint.geometry().layers() != 2) {
                return;
            }
            ByteBuffer row = ByteBuffer.allocate((int) expected.layout().rowBytes());
            ExpertPacker.DEFAULT.pack(checkpoint.expert(1, 2), row);
            assertThat(row.flip()).isEqualTo(expected.row(1, 2));
        }
    }
}
