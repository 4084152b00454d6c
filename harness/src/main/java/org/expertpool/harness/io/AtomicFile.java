package org.expertpool.harness.io;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.expertpool.pool.BadInputException;

/**
 * An output file that appears whole or not at all: bytes go to a temporary file in the same directory, {@link #commit}
 * syncs it and renames it over the target, and {@link #close} without a commit, or the end of the process, removes it.
 */
public final class AtomicFile implements AutoCloseable {
    private final String name;
    private final Path target;
    private final Path temporary;
    private final FileChannel channel;

    private AtomicFile(String name, Path target, Path temporary, FileChannel channel) {
        this.name = name;
        this.target = target;
        this.temporary = temporary;
        this.channel = channel;
    }

    /**
     * Starts an output; {@link BadInputException} where the target is a directory, or its directory is absent or takes no
     * file.
     */
    public static AtomicFile create(Path target) throws IOException {
        Path absolute = target.toAbsolutePath();
        Path directory = absolute.getParent();
        if (directory == null || Files.isDirectory(absolute)) {
            throw new BadInputException("output " + target + ": is a directory, expected a file name");
        }
        // The rename would put a plain file in the place of a device or a pipe, /dev/null included.
        if (Files.exists(absolute) && !Files.isRegularFile(absolute)) {
            throw new BadInputException("output " + target + ": is a device or pipe, expected a file name");
        }
        if (!Files.isDirectory(directory)) {
            throw new BadInputException("output " + target + ": directory " + directory + " does not exist");
        }
        // Not Files.createTempFile: its files are readable by their owner alone, and stay so after the rename.
        Path temporary = directory.resolve("." + absolute.getFileName() + "." + UUID.randomUUID() + ".tmp");
        FileChannel channel;
        try {
            channel = FileChannel.open(
                    temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } catch (FileSystemException refused) {
            throw new BadInputException(
                    "output " + target + ": directory " + directory + " takes no file: " + PathProblem.of(refused),
                    refused);
        }
        // A signal ends the process without closing anything: gigabytes may lie in the file by then.
        temporary.toFile().deleteOnExit();
        return new AtomicFile("output " + target, absolute, temporary, channel);
    }

    /** Writes a whole text or byte array at once. */
    public static void write(Path target, byte[] content) throws IOException {
        try (AtomicFile file = create(target)) {
            file.stream().write(content);
            file.commit();
        }
    }

    /** The channel to write to; closed by this object. */
    public FileChannel channel() {
        return channel;
    }

    /** Writes all of the buffer at the channel's position; a failure names the output. */
    public void write(ByteBuffer bytes) throws IOException {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (IOException failure) {
            throw new IOException(name + ": " + PathProblem.of(failure), failure);
        }
    }

    /** A stream onto {@link #channel}, unbuffered; closing it keeps the channel open, which is synced first. */
    public OutputStream stream() {
        return new OutputStream() {
            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                AtomicFile.this.write(ByteBuffer.wrap(bytes, offset, length));
            }
        };
    }

    /** Makes the file durable and puts it in the target's place. */
    public void commit() throws IOException {
        channel.force(true);
        channel.close();
        Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel directory = FileChannel.open(target.getParent(), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
        Files.deleteIfExists(temporary);
    }
}
