package org.expertpool.pool.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SafetensorsFileTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("t.safetensors");
    }

    @Test
    void readsTypesShapesAndBytes() throws IOException {
        SafetensorsWriter writer = new SafetensorsWriter()
                .add("a", "F32", new long[0], new byte[] {0, 0, (byte) 0x80, 0x3f})
                .add("b", "U8", new long[] {2, 3}, new byte[] {1, 2, 3, 4, 5, 6})
                .add("none", "BF16", new long[] {0, 7}, new byte[0])
                .add("c", "BF16", new long[] {1}, new byte[] {7, 8});
        writer.header().putObject("__metadata__").put("format", "pt");
        writer.write(file);
        List<StoredTensor> tensors = SafetensorsFile.tensors(file);
        assertThat(tensors).extracting(StoredTensor::name).containsExactlyInAnyOrder("a", "b", "none", "c");
        assertThat(tensors.get(0).data().getFloat()).isEqualTo(1f);
        assertThat(tensors.get(1).shape()).containsExactly(2L, 3L);
        assertThat(tensors.get(1).type()).isEqualTo(TensorType.U8);
        assertThat(tensors.get(1).data()).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6}));
        assertThat(tensors.get(3).data().get(1)).isEqualTo((byte) 8);
    }

    /** Each header describes six bytes of data; the message names what is wrong, and the tensor where there is one. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{`a`:{`dtype`:`U8`,`shape`:[7],`data_offsets`:[0,7]}} | tensor a: data_offsets are [0, 7]",
                "{`a`:{`dtype`:`U8`,`shape`:[2],`data_offsets`:[4,2]}} | tensor a: data_offsets are [4, 2]",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[0]}} | tensor a: data_offsets are [0]",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[-1,5]}} | tensor a: data_offsets holds -1",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[0,6.0]}} | tensor a: data_offsets holds 6.0",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[0,99999999999999999999]}} | tensor a: data_offsets holds 9999",
                "{`a`:{`dtype`:`U8`,`shape`:6,`data_offsets`:[0,6]}} | tensor a: shape is not a list",
                "{`a`:{`dtype`:`U8`,`shape`:[5],`data_offsets`:[0,6]}} | tensor a: 6 bytes, expected 5",
                "{`a`:{`dtype`:`F4`,`shape`:[3],`data_offsets`:[0,6]}} | tensor a: shape [3] of F4 does not fill",
                "{`a`:{`dtype`:`F32`,`shape`:[4611686018427387904,4],`data_offsets`:[0,6]}} | more than 2^63 bits",
                "{`a`:{`dtype`:`U9`,`shape`:[6],`data_offsets`:[0,6]}} | tensor a: dtype is U9",
                "{`a`:{`dtype`:8,`shape`:[6],`data_offsets`:[0,6]}} | tensor a: dtype is 8",
                "{`a`:{`dtype`:`U8`,`data_offsets`:[0,6]}} | tensor a: lacks",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[0,6],`x`:{}}} | tensor a: unknown key x",
                "{`a`:{`dtype`:`U8`,`shape`:[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6],`data_offsets`:[0,6]}} | more than 16 numbers",
                "{`a`:[]} | tensor a: is not described by an object",
                "{`a`:{`dtype`:`U8`,`shape`:[4],`data_offsets`:[0,4]},`b`:{`dtype`:`U8`,`shape`:[3],`data_offsets`:[3,6]}}"
                        + "| tensor b: data_offsets begin at 3, expected 4, where the data before it ends: an overlap",
                "{`a`:{`dtype`:`U8`,`shape`:[2],`data_offsets`:[0,2]},`b`:{`dtype`:`U8`,`shape`:[3],`data_offsets`:[3,6]}}"
                        + "| tensor b: data_offsets begin at 3, expected 2, where the data before it ends: a gap",
                "{`a`:{`dtype`:`U8`,`shape`:[5],`data_offsets`:[1,6]}} | tensor a: data_offsets begin at 1, expected 0",
                "{`a`:{`dtype`:`U8`,`shape`:[5],`data_offsets`:[0,5]}} | 1 bytes after the last tensor, a",
                "{} | 6 bytes after the last tensor",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[0,6]},`a`:{}} | Duplicate",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[0,6]}} {} | text after the end",
                "{`a`:{`dtype`:`U8`,`shape`:[6],`data_offsets`:[0,6]} | not JSON",
                "#{} | does not begin with '{'",
                "{`a`: | Unexpected end-of-input within/between Object entries",
                "{{ | not JSON"
            })
    void refusesBadHeaders(String header, String problem) throws IOException {
        String text = header.replace('`', '"').replace('#', ' ');
        SafetensorsWriter.write(file, text, new byte[6]);
        assertThatThrownBy(() -> SafetensorsFile.tensors(file))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageContaining(problem);
    }

    @Test
    void refusesLengthsThatTheFileCannotHold() throws IOException {
        for (long length : new long[] {-1, Long.MIN_VALUE, 0, 1, 15, 1L << 40, 100_000_001}) {
            ByteBuffer bytes = ByteBuffer.allocate(22).order(java.nio.ByteOrder.LITTLE_ENDIAN);
            bytes.putLong(length).put("{} and some data".substring(0, 14).getBytes(StandardCharsets.UTF_8));
            Files.write(file, bytes.array());
            assertThatThrownBy(() -> SafetensorsFile.tensors(file))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageContaining("header length is " + Long.toUnsignedString(length));
        }
        Files.write(file, new byte[7]);
        assertThatThrownBy(() -> SafetensorsFile.tensors(file)).hasMessageContaining("7 bytes, expected");
        Files.write(file, new byte[0]);
        assertThatThrownBy(() -> SafetensorsFile.tensors(file)).hasMessageContaining("0 bytes, expected");
    }

    @Test
    void refusesTextThatIsNotUtf8() throws IOException {
        byte[] header =
                "{\"a?\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}".getBytes(StandardCharsets.UTF_8);
        header[3] = (byte) 0xC3; // begins a character of two bytes that does not go on
        ByteBuffer bytes = ByteBuffer.allocate(8 + header.length).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        Files.write(file, bytes.putLong(header.length).put(header).array());
        assertThatThrownBy(() -> SafetensorsFile.tensors(file))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("not UTF-8");
    }

    /** Offsets beyond 2^31 and 2^32, in a file with a hole instead of data. */
    @Test
    void reachesTensorsBeyondFourGibibytes() throws IOException {
        long hole = (1L << 32) + 4099;
        String header = "{\"hole\":{\"dtype\":\"U8\",\"shape\":[" + hole + "],\"data_offsets\":[0," + hole + "]},"
                + "\"last\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[" + hole + "," + (hole + 3) + "]}}";
        SafetensorsWriter.write(file, header, new byte[0]);
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.seek(sparse.length() + hole);
            sparse.write(new byte[] {5, 6, 7});
        }
        List<StoredTensor> tensors = SafetensorsFile.tensors(file);
        assertThat(tensors.get(1).data()).isEqualTo(ByteBuffer.wrap(new byte[] {5, 6, 7}));
        assertThat(tensors.get(0).bytes()).isEqualTo(hole);
        assertThatThrownBy(() -> tensors.get(0).data())
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("tensor hole");
    }

    /** Windows of eight bytes: every run of up to seven is found whole, wherever it begins. */
    @Test
    void windowsOverlap() throws IOException {
        byte[] bytes = new byte[61];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        Files.write(file, bytes);
        MappedFile mapped = MappedFile.map(file, 8);
        for (int length = 0; length < 8; length++) {
            for (int from = 0; from + length <= bytes.length; from++) {
                assertThat(mapped.slice(from, length)).isEqualTo(ByteBuffer.wrap(bytes, from, length));
            }
        }
        assertThat(mapped.fits(8)).isFalse();
        assertThatThrownBy(() -> mapped.slice(55, 7)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
