package org.expertpool.pool.checkpoint;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.expertpool.pool.BadInputException;

/**
 * Reads the header of a safetensors file: 8 bytes of header length, a JSON object of tensors with types, shapes and
 * offsets, then the data without gaps. Nothing in it is believed before it is checked against the file's size.
 */
final class SafetensorsFile {
    /** What the format's own reader allows. */
    static final int MOST_HEADER_BYTES = 100_000_000;

    private static final int MOST_DIMENSIONS = 16;
    private static final String METADATA = "__metadata__";

    private final MappedFile file;
    private final long dataAt;
    private final List<StoredTensor> tensors = new ArrayList<>();

    private SafetensorsFile(MappedFile file, long dataAt) {
        this.file = file;
        this.dataAt = dataAt;
    }

    /** The tensors of a file, in the order of their bytes. */
    static List<StoredTensor> tensors(Path path) throws IOException {
        MappedFile file;
        try {
            file = MappedFile.map(path);
        } catch (NoSuchFileException missing) {
            throw new BadInputException(path + ": no such file", missing);
        }
        if (file.size() < Long.BYTES) {
            throw new BadInputException(path + ": " + file.size() + " bytes, expected a header length of 8");
        }
        long headerBytes = file.slice(0, Long.BYTES).getLong();
        if (headerBytes < 2 || headerBytes > Math.min(MOST_HEADER_BYTES, file.size() - Long.BYTES)) {
            throw new BadInputException(path + ": header length is " + Long.toUnsignedString(headerBytes)
                    + ", expected 2 to " + Math.min(MOST_HEADER_BYTES, file.size() - Long.BYTES));
        }
        byte[] header = new byte[(int) headerBytes];
        file.slice(Long.BYTES, headerBytes).get(header);
        if (header[0] != '{') {
            throw new BadInputException(path + ": header does not begin with '{'");
        }
        SafetensorsFile reader = new SafetensorsFile(file, Long.BYTES + headerBytes);
        JsonText.fields(path + " header", new ByteArrayInputStream(header), reader::field);
        return reader.inOrder();
    }

    private void field(String name, JsonParser parser) throws IOException {
        if (name.equals(METADATA)) {
            parser.skipChildren();
            return;
        }
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw bad(name, "is not described by an object");
        }
        Entry entry = new Entry(name);
        JsonText.fields(parser, entry::field);
        tensors.add(entry.tensor());
    }

    /** The format has no gaps and no overlaps; bytes that no tensor names would be a sign of a wrong header. */
    private List<StoredTensor> inOrder() {
        tensors.sort(Comparator.comparingLong(StoredTensor::offset).thenComparingLong(StoredTensor::bytes));
        long at = dataAt;
        for (StoredTensor tensor : tensors) {
            if (tensor.offset() != at) {
                throw tensor.bad("data_offsets begin at " + (tensor.offset() - dataAt) + ", expected " + (at - dataAt)
                        + ", where the data before it " + (tensor.offset() < at ? "ends: an overlap" : "ends: a gap"));
            }
            at += tensor.bytes();
        }
        if (at != file.size()) {
            throw new BadInputException(file.path() + ": " + (file.size() - at) + " bytes after the last tensor"
                    + (tensors.isEmpty()
                            ? ""
                            : ", "
                                    + JsonText.shown(
                                            tensors.get(tensors.size() - 1).name())) + ", expected none");
        }
        return tensors;
    }

    private BadInputException bad(String tensor, String problem) {
        return new BadInputException(file.path() + ": tensor " + JsonText.shown(tensor) + ": " + problem);
    }

    /** What the header says of one tensor. */
    private final class Entry {
        private final String name;
        private TensorType type;
        private List<Long> shape;
        private List<Long> offsets;

        Entry(String name) {
            this.name = name;
        }

        void field(String key, JsonParser parser) throws IOException {
            switch (key) {
                case "dtype" -> type = type(parser);
                case "shape" -> shape = numbers(key, parser);
                case "data_offsets" -> offsets = numbers(key, parser);
                default ->
                    throw bad(name, "unknown key " + JsonText.shown(key) + ", expected dtype, shape, data_offsets");
            }
        }

        private TensorType type(JsonParser parser) throws IOException {
            String text = parser.getText();
            for (TensorType known : TensorType.values()) {
                if (parser.currentToken() == JsonToken.VALUE_STRING
                        && known.name().equals(text)) {
                    return known;
                }
            }
            throw bad(name, "dtype is " + JsonText.shown(text) + ", expected one of " + List.of(TensorType.values()));
        }

        private List<Long> numbers(String key, JsonParser parser) throws IOException {
            if (parser.currentToken() != JsonToken.START_ARRAY) {
                throw bad(name, key + " is not a list");
            }
            List<Long> numbers = new ArrayList<>(4);
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                        || parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                        || parser.getLongValue() < 0) {
                    throw bad(
                            name,
                            key + " holds " + JsonText.shown(parser.getText()) + ", expected whole numbers below 2^63");
                }
                if (numbers.size() == MOST_DIMENSIONS) {
                    throw bad(name, key + " has more than " + MOST_DIMENSIONS + " numbers");
                }
                numbers.add(parser.getLongValue());
            }
            return List.copyOf(numbers);
        }

        StoredTensor tensor() {
            if (type == null || shape == null || offsets == null) {
                throw bad(name, "lacks dtype, shape or data_offsets");
            }
            long dataBytes = file.size() - dataAt;
            if (offsets.size() != 2 || offsets.get(0) > offsets.get(1) || offsets.get(1) > dataBytes) {
                throw bad(
                        name,
                        "data_offsets are " + offsets + ", expected [begin, end] within " + dataBytes
                                + " bytes of data");
            }
            long bytes = offsets.get(1) - offsets.get(0);
            if (bytes != bytesOfShape()) {
                throw bad(name, bytes + " bytes, expected " + bytesOfShape() + " for shape " + shape + " of " + type);
            }
            return new StoredTensor(file, name, type, shape, dataAt + offsets.get(0), bytes);
        }

        private long bytesOfShape() {
            try {
                long bits = type.bits();
                for (long size : shape) {
                    bits = Math.multiplyExact(bits, size);
                }
                if (bits % Byte.SIZE == 0) {
                    return bits / Byte.SIZE;
                }
            } catch (ArithmeticException tooLarge) {
                throw bad(name, "shape " + shape + " has more than 2^63 bits of data");
            }
            throw bad(name, "shape " + shape + " of " + type + " does not fill whole bytes");
        }
    }
}
