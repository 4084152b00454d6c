package org.expertpool.harness.record;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.expertpool.harness.io.PathProblem;
import org.expertpool.pool.BadInputException;

/**
 * The {@code results.csv} of a run under way, locked against a second writer for as long as it is open. Each row is
 * one whole line, synced to disk before {@link #append} returns, so a killed process leaves at most one partial line,
 * and the next {@link #resume} removes it. The system releases the lock when the process dies.
 */
public final class ResultsFile implements AutoCloseable {
    private final Path path;
    private final FileChannel channel;
    private final List<ResultRow> rows;

    private ResultsFile(Path path, FileChannel channel, List<ResultRow> rows) {
        this.path = path;
        this.channel = channel;
        this.rows = new ArrayList<>(rows);
    }

    /** Starts a new file; one that exists is refused. */
    public static ResultsFile create(Path file) throws IOException {
        try {
            return open(file, StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException exists) {
            throw new BadInputException(file + ": exists, expected a new directory or --resume", exists);
        }
    }

    /** Opens a file to go on with, creating it where it is missing; drops a partial last line. */
    public static ResultsFile resume(Path file) throws IOException {
        return open(file, StandardOpenOption.CREATE);
    }

    private static ResultsFile open(Path file, StandardOpenOption creation) throws IOException {
        FileChannel channel = FileChannel.open(file, creation, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            lock(file, channel);
            ResultsFile results = new ResultsFile(file, channel, wholeRows(file, channel));
            if (channel.size() == 0) {
                results.write(ResultsCsv.header());
            }
            return results;
        } catch (IOException | RuntimeException failure) {
            channel.close();
            throw failure;
        }
    }

    // The lock object needs no handle: it lives and dies with the channel.
    private static void lock(Path file, FileChannel channel) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException held) {
            lock = null;
        }
        if (lock == null) {
            throw new BadInputException(file + ": another run is writing it, expected one run per directory");
        }
    }

    private static List<ResultRow> wholeRows(Path file, FileChannel channel) throws IOException {
        byte[] bytes = new byte[Math.toIntExact(channel.size())];
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining() && channel.read(buffer, buffer.position()) >= 0) {}
        // Before the cut: a file that no run wrote stays as it is.
        byte[] header = ResultsCsv.header().getBytes(StandardCharsets.UTF_8);
        int common = Math.min(header.length, bytes.length);
        if (!Arrays.equals(header, 0, common, bytes, 0, common)) {
            throw new BadInputException(
                    file + " line 1: the header is another version's, expected that of results schema "
                            + ResultsSchema.VERSION + " as this build writes it");
        }
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] != '\n') {
            end--;
        }
        channel.truncate(end);
        channel.position(end);
        if (end == 0) {
            return List.of();
        }
        return ResultsCsv.parse(file.toString(), Arrays.copyOf(bytes, end));
    }

    /** All rows in the file, oldest first. */
    public List<ResultRow> rows() {
        return List.copyOf(rows);
    }

    /** Appends one row and returns when it is on disk. */
    public void append(ResultRow row) throws IOException {
        write(ResultsCsv.line(row));
        rows.add(row);
    }

    private void write(String line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        } catch (IOException failure) {
            throw new IOException(path + ": " + PathProblem.of(failure), failure);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
