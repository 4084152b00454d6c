package org.expertpool.harness.replay;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.expertpool.harness.io.PathProblem;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.PoolConfig;

/** Walks a replay file line by line in one pass, so that a pipe will do, and names file and line of what is wrong. */
final class ReplayReader implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 16;

    private final Path file;
    private final InputStream in;
    private final ReplayLineParser parser;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private long line;

    ReplayReader(Path file, PoolConfig config) throws IOException {
        this.file = file;
        parser = new ReplayLineParser(config);
        try {
            in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
        } catch (NoSuchFileException absent) {
            throw new BadInputException(file + ": no such file, expected JSON lines", absent);
        } catch (IOException unreadable) {
            throw PathProblem.unreadable(file, unreadable);
        }
    }

    /** Handles the next line; false at the end of the file. */
    boolean next(ReplayHandler handler) throws IOException {
        if (!readLine()) {
            return false;
        }
        line++;
        try {
            parser.parse(decoded(), handler);
        } catch (BadInputException wrong) {
            throw new BadInputException(file + ":" + line + ": " + wrong.getMessage(), wrong);
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private boolean readLine() {
        bytes.reset();
        try {
            int next = in.read();
            if (next < 0) {
                return false;
            }
            for (; next >= 0 && next != '\n'; next = in.read()) {
                bytes.write(next);
            }
            return true;
        } catch (IOException unreadable) {
            throw PathProblem.unreadable(file, unreadable);
        }
    }

    private String decoded() {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException malformed) {
            throw new BadInputException("the line is not UTF-8, expected a JSON object", malformed);
        }
    }
}
