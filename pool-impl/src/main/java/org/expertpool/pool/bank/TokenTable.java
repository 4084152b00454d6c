package org.expertpool.pool.bank;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;

/**
 * Embedding rows by token, {@code [rows, rowBytes]}, in a file that is mapped and never loaded: what is read comes from the
 * page cache or the disk. One thread at a time.
 */
public final class TokenTable {
    private static final int MOST_MAP_BYTES = 1 << 30;

    private final long rows;
    private final int rowBytes;
    private final int rowsPerMap;
    private final List<MappedByteBuffer> maps = new ArrayList<>();

    private TokenTable(FileChannel file, long rows, int rowBytes, MapMode mode) throws IOException {
        this.rows = rows;
        this.rowBytes = rowBytes;
        rowsPerMap = MOST_MAP_BYTES / rowBytes;
        for (long first = 0; first < rows; first += rowsPerMap) {
            maps.add(file.map(mode, first * rowBytes, Math.min(rowsPerMap, rows - first) * rowBytes));
        }
    }

    /** Maps a file of exactly so many rows. */
    public static TokenTable open(Path path, long rows, int rowBytes) throws IOException {
        requireSizes(rows, rowBytes);
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            if (file.size() != rows * rowBytes) {
                throw new BadInputException(
                        path + ": " + file.size() + " bytes, expected " + rows + " rows of " + rowBytes);
            }
            return new TokenTable(file, rows, rowBytes, MapMode.READ_ONLY);
        }
    }

    /** Makes a new file of zeros, which takes no room on the disk until rows are written, and maps it. */
    public static TokenTable create(Path path, long rows, int rowBytes) throws IOException {
        requireSizes(rows, rowBytes);
        try (FileChannel file = FileChannel.open(
                path,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.SPARSE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return new TokenTable(file, rows, rowBytes, MapMode.READ_WRITE);
        }
    }

    public long rows() {
        return rows;
    }

    public int rowBytes() {
        return rowBytes;
    }

    /** Copies a row to {@code to} from its byte {@code atByte} on. */
    public void read(long row, ByteBuffer to, int atByte) {
        to.put(atByte, map(row), at(row), rowBytes);
    }

    /** Overwrites a row of a table that was created. */
    public void write(long row, byte[] bytes) {
        if (bytes.length != rowBytes) {
            throw new IllegalArgumentException(bytes.length + " bytes, expected a row of " + rowBytes);
        }
        map(row).put(at(row), bytes);
    }

    private MappedByteBuffer map(long row) {
        if (row < 0 || row >= rows) {
            throw new BadInputException("token row is " + row + ", expected 0 to " + (rows - 1));
        }
        return maps.get((int) (row / rowsPerMap));
    }

    private int at(long row) {
        return (int) (row % rowsPerMap) * rowBytes;
    }

    private static void requireSizes(long rows, int rowBytes) {
        if (rows < 1 || rowBytes < 1 || rowBytes > MOST_MAP_BYTES || rows > Long.MAX_VALUE / rowBytes) {
            throw new BadInputException("token table: " + rows + " rows of " + rowBytes
                    + " bytes, expected at least one of each and at most " + MOST_MAP_BYTES + " bytes a row");
        }
    }
}
