package org.expertpool.harness.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.expertpool.pool.bank.TokenTable;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.TokenRowsEngine;
import org.expertpool.pool.cuda.engine.TokenRowsEngine.Gathering;

/**
 * What stands in for a model's table of per-layer embeddings: a sparse file of zeros, made at the first cell that asks for
 * it, of which each token reads a row drawn by its number. As many rows as make Qwen3.8-Flash-Next's 47.68 GiB at 256 bytes
 * a layer, which is one fp8 value for each of 256 channels; how that model's rows are cut has not been published.
 */
final class EmbeddingRows implements AutoCloseable {
    private static final long ROWS = 4_166_342;
    private static final int LAYER_BYTES = 256;
    private static final long SEED = 5;

    private final int layers;
    private Path file;
    private TokenTable table;

    EmbeddingRows(int layers) {
        this.layers = layers;
    }

    /** The engine, with rows brought beside its forwards as {@code ple} says; the engine stays the caller's. */
    LayerEngine beside(LayerEngine engine, DeviceModel experts, String ple) {
        if (ple.equals(Axis.NO_ROWS)) {
            return engine;
        }
        Gathering gathering = ple.equals(Axis.EAGER_ROWS) ? Gathering.BEFORE_FORWARD : Gathering.DURING_FIRST_LAYER;
        return new TokenRowsEngine(
                experts, engine, table(), token -> new SplittableRandom(SEED + token).nextLong(ROWS), gathering);
    }

    private TokenTable table() {
        try {
            if (table == null) {
                file = Files.createTempDirectory("expertpool").resolve("embeddings");
                table = TokenTable.create(file, ROWS, LAYER_BYTES * layers);
            }
            return table;
        } catch (IOException failure) {
            throw new UncheckedIOException("embedding rows, " + ROWS * LAYER_BYTES * layers + " bytes", failure);
        }
    }

    @Override
    public void close() {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
                Files.deleteIfExists(file.getParent());
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
