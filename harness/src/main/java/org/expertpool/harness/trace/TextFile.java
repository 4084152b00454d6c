package org.expertpool.harness.trace;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.expertpool.harness.io.PathProblem;
import org.expertpool.pool.BadInputException;

/**
 * A file that may be compressed with gzip, and the one form of its errors.
 *
 * @param path the file
 */
record TextFile(Path path) {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int GZIP_MAGIC = 0x1F8B;

    /** Whether the file starts as gzip does. */
    boolean isCompressed() throws IOException {
        try (InputStream raw = Files.newInputStream(path)) {
            return ((raw.read() << 8) | raw.read()) == GZIP_MAGIC;
        }
    }

    /** The content, decompressed. */
    InputStream open() throws IOException {
        boolean compressed = isCompressed();
        InputStream raw = Files.newInputStream(path);
        try {
            return compressed ? new GZIPInputStream(raw, BUFFER_BYTES) : raw;
        } catch (EOFException | ZipException damaged) {
            raw.close();
            throw damaged(1, damaged);
        } catch (IOException failure) {
            raw.close();
            throw failure;
        }
    }

    /** The first bytes of the content. */
    byte[] head(int bytes) throws IOException {
        try (InputStream in = open()) {
            return in.readNBytes(bytes);
        } catch (EOFException | ZipException damaged) {
            throw damaged(1, damaged);
        }
    }

    /** An error at a line: what was found and what was expected. */
    BadInputException bad(long line, String problem) {
        return bad(line, problem, null);
    }

    /** As {@link #bad(long, String)}, with a cause. */
    BadInputException bad(long line, String problem, IOException cause) {
        // What was found is quoted, and may hold anything.
        return new BadInputException(path + " line " + line + ": " + problem.replaceAll("\\p{Cntrl}", "?"), cause);
    }

    /** The error for compressed data that ends early or does not decompress. */
    BadInputException damaged(long line, IOException cause) {
        return bad(
                line,
                "the gzip data is damaged or ends early (" + PathProblem.of(cause) + "), expected a whole gzip file",
                cause);
    }
}
