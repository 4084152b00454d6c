package org.expertpool.pool.checkpoint;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.expertpool.pool.BadInputException;

/** A tensor of a safetensors file: what the header says of it, and its bytes. */
public final class StoredTensor {
    private final MappedFile file;
    private final String name;
    private final TensorType type;
    private final List<Long> shape;
    private final long offset;
    private final long bytes;

    /** @param offset of its first byte, from the beginning of the file */
    StoredTensor(MappedFile file, String name, TensorType type, List<Long> shape, long offset, long bytes) {
        this.file = file;
        this.name = name;
        this.type = type;
        this.shape = shape;
        this.offset = offset;
        this.bytes = bytes;
    }

    public Path file() {
        return file.path();
    }

    public String name() {
        return name;
    }

    public TensorType type() {
        return type;
    }

    /** Sizes, outermost first; empty for a scalar. */
    public List<Long> shape() {
        return shape;
    }

    public long bytes() {
        return bytes;
    }

    long offset() {
        return offset;
    }

    /**
     * The bytes as a new little-endian view of the mapped file: position 0, limit {@link #bytes}.
     *
     * @throws BadInputException the tensor is too large for one buffer
     */
    public ByteBuffer data() {
        if (!file.fits(bytes)) {
            throw bad("has " + bytes + " bytes, expected less than " + MappedFile.STRIDE_BYTES);
        }
        return file.slice(offset, bytes);
    }

    /** Refuses another type or shape; a shape {@code []} takes {@code [1]} too, as exporters differ in scalars. */
    StoredTensor require(TensorType expectedType, List<Long> expectedShape) {
        if (type != expectedType) {
            throw bad("type is " + type + ", expected " + expectedType);
        }
        boolean scalar = expectedShape.isEmpty() && shape.equals(List.of(1L));
        if (!shape.equals(expectedShape) && !scalar) {
            throw bad("shape is " + shape + ", expected " + expectedShape);
        }
        return this;
    }

    /** Bad input that names the file and this tensor. */
    BadInputException bad(String problem) {
        return new BadInputException(file.path() + ": tensor " + JsonText.shown(name) + ": " + problem);
    }
}
