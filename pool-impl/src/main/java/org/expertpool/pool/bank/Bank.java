package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.expertpool.pool.BadInputException;

/**
 * The rows of a pool in host memory, for the Java backend: R rows of {@code rowBytes}, in slabs of less than 2 GiB, so
 * that the whole may be larger than one buffer. Zero at first.
 */
public final class Bank {
    private static final int MAX_SLAB_BYTES = Integer.MAX_VALUE;

    private final int rows;
    private final int rowBytes;
    private final int rowsPerSlab;
    private final ByteBuffer[] slabs;

    /**
     * @param rows R, at least 1
     * @param rowBytes bytes of one row, 1 to 2^31 - 1
     */
    public Bank(int rows, long rowBytes) {
        this(rows, rowBytes, MAX_SLAB_BYTES);
    }

    Bank(int rows, long rowBytes, int maxSlabBytes) {
        if (rows < 1) {
            throw new BadInputException("bank rows is " + rows + ", expected at least 1");
        }
        if (rowBytes < 1 || rowBytes > maxSlabBytes) {
            throw new BadInputException("rowBytes is " + rowBytes + ", expected 1 to " + maxSlabBytes);
        }
        this.rows = rows;
        this.rowBytes = (int) rowBytes;
        rowsPerSlab = maxSlabBytes / this.rowBytes;
        slabs = new ByteBuffer[(int) (((long) rows + rowsPerSlab - 1) / rowsPerSlab)];
        for (int slab = 0; slab < slabs.length; slab++) {
            long slabRows = Math.min(rowsPerSlab, rows - (long) slab * rowsPerSlab);
            slabs[slab] = ByteBuffer.allocateDirect(Math.toIntExact(slabRows * rowBytes));
        }
    }

    public int rows() {
        return rows;
    }

    public long rowBytes() {
        return rowBytes;
    }

    /** Bytes of all rows. */
    public long bytes() {
        return (long) rows * rowBytes;
    }

    /** One row as a new read-only, little-endian view: position 0, limit {@code rowBytes}. */
    public ByteBuffer row(int row) {
        return slice(row).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Copies the remaining bytes of {@code source}, exactly one row of them, into a row; moves no position. */
    public void write(int row, ByteBuffer source) {
        if (source.remaining() != rowBytes) {
            throw new IllegalArgumentException(
                    "source of row " + row + " has " + source.remaining() + " bytes, expected " + rowBytes);
        }
        slice(row).put(source.duplicate());
    }

    /** Sets every byte of a row. */
    public void fill(int row, byte value) {
        ByteBuffer target = slice(row);
        while (target.hasRemaining()) {
            target.put(value);
        }
    }

    private ByteBuffer slice(int row) {
        if (row < 0 || row >= rows) {
            throw new IndexOutOfBoundsException("row is " + row + ", expected 0 to " + (rows - 1));
        }
        return slabs[row / rowsPerSlab].slice(row % rowsPerSlab * rowBytes, rowBytes);
    }
}
