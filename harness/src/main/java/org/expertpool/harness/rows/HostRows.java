package org.expertpool.harness.rows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.expertpool.harness.io.HostRam;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.cuda.engine.DeviceModel;

/**
 * Where a device's host source comes from: memory that is filled anew in each process; or a folder of files, best on
 * {@code /dev/shm}, that the first process to want some rows makes and all others map.
 *
 * @param folder of the files; empty: memory
 * @param notices told what took how long
 */
public record HostRows(Optional<Path> folder, Consumer<String> notices) {
    private static final int LAYERS_A_NOTICE = 16;

    /** Rows in pinned memory of this process's. */
    public static HostRows inMemory(Consumer<String> notices) {
        return new HostRows(Optional.empty(), notices);
    }

    /**
     * Rows ready for the device.
     *
     * @throws BadInputException memory or the folder does not hold them, or the file there holds others
     */
    public DeviceModel load(CudaContext context, RowContent content, int topK) {
        try (CudaContext.Attempt all = context.attempt()) {
            DeviceModel model = DeviceModel.of(context, source(context, content), topK);
            all.succeeded();
            return model;
        }
    }

    /** As {@link #load}, in the place of a model of the same shape, which is closed: memory for both is not there. */
    public DeviceModel replace(DeviceModel old, RowContent content) {
        if (folder.isPresent()) {
            old.close();
            return load(old.context(), content, old.shape().topK());
        }
        try {
            long start = System.nanoTime();
            DeviceModel next = old.refilled(memory -> content.maker().make(memory, filled(content)));
            tell(content, "made in the same memory", start);
            return next;
        } catch (RuntimeException failure) {
            try {
                old.close();
            } catch (CudaException again) {
                failure.addSuppressed(again); // it says less
            }
            throw failure;
        }
    }

    private PinnedSource source(CudaContext context, RowContent content) {
        if (folder.isPresent()) {
            RowFile.Mapped mapped = map(folder.get(), content);
            long start = System.nanoTime();
            PinnedSource source = PinnedSource.mapped(context, mapped.rows(), mapped.slabs());
            tell(content, "pinned", start);
            return source;
        }
        HostRam.require(content.words(), content.bytes());
        long start = System.nanoTime();
        PinnedSource source =
                PinnedSource.load(context, memory -> content.maker().make(memory, filled(content)));
        tell(content, "made and pinned", start);
        return source;
    }

    private IntConsumer filled(RowContent content) {
        AtomicInteger layers = new AtomicInteger();
        return layer -> {
            int done = layers.incrementAndGet();
            if (done % LAYERS_A_NOTICE == 0) {
                notices.accept(done + " of " + content.layers() + " layers of rows are there");
            }
        };
    }

    private RowFile.Mapped map(Path in, RowContent content) {
        Path path = in.resolve(content.fileName());
        RowFile file = new RowFile(path, content);
        try {
            if (!Files.exists(path)) {
                if (!Files.isDirectory(in)) {
                    throw new BadInputException("host rows " + in + ": no such folder, expected one");
                }
                long start = System.nanoTime();
                file.make(filled(content));
                tell(content, "made in " + path, start);
            }
            long start = System.nanoTime();
            RowFile.Mapped mapped = file.open();
            tell(content, "mapped from " + path + " and compared with their sums", start);
            return mapped;
        } catch (IOException failure) {
            throw new UncheckedIOException("host rows " + path + ": " + failure.getMessage(), failure);
        }
    }

    private void tell(RowContent content, String how, long startNanos) {
        notices.accept(String.format(
                Locale.ROOT,
                "%.1f GiB of rows %s in %.1f s",
                content.bytes() / 0x1p30,
                how,
                (System.nanoTime() - startNanos) * 1e-9));
    }
}
