package org.expertpool.harness.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.expertpool.harness.io.HostRam;
import org.expertpool.harness.rows.RowContent;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.checkpoint.Checkpoint;
import org.expertpool.pool.checkpoint.ExpertLoader;
import org.expertpool.pool.checkpoint.HostConversion;
import org.expertpool.pool.checkpoint.LayerConversion;
import org.expertpool.pool.checkpoint.Models;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.convert.CheckpointConversion;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.model.ModelGeometry;

/**
 * The model of a definition: a preset or a file of sizes, whose experts are seeded, or a checkpoint with its own.
 *
 * @param geometry its sizes
 * @param activations their type, which the rows are made for
 * @param checkpoint the weights, where there are some
 */
record ModelWeights(ModelGeometry geometry, ActivationType activations, Optional<Checkpoint> checkpoint) {
    /** Finds the model by its name in a definition; a directory is looked for from the repository root on. */
    static ModelWeights of(String model, ActivationType activations, RepositoryFiles files) {
        Path folder = files.resolve(model);
        if (isFolder(model) && Files.isDirectory(folder)) {
            Checkpoint checkpoint = Models.open(folder);
            return new ModelWeights(checkpoint.geometry(), activations, Optional.of(checkpoint));
        }
        return new ModelWeights(Models.geometry(model), activations, Optional.empty());
    }

    /** Whether a definition names a checkpoint directory, be it there or not. */
    static boolean isFolder(String model) {
        return model.contains("/") && !model.endsWith(".toml");
    }

    /** What stands in the {@code model} column: a path's last part. */
    static String label(String model) {
        return model.substring(model.lastIndexOf('/') + 1);
    }

    /**
     * The experts of a seed, or the checkpoint's, which no seed changes.
     *
     * @throws org.expertpool.pool.BadInputException the host's memory does not hold them
     */
    HostSource experts(long seed, SlabAllocator memory, IntConsumer filled) {
        HostRam.require("experts of model " + geometry.name(), geometry.allExpertBytes());
        return experts(seed, memory, filled, new HostConversion(ExpertPacker.of(activations)));
    }

    /** The same for a device, which converts a checkpoint's experts. */
    RowContent content(CudaContext context, long seed) {
        if (checkpoint.isEmpty()) {
            return RowContent.seeded(geometry.name(), synthetic(seed));
        }
        return new RowContent(
                geometry.name() + "-" + checkpoint.get().headersSha256().substring(0, 12) + "-" + activations.label()
                        + ".rows",
                source(),
                geometry.rowLayout(),
                activations,
                geometry.layers(),
                geometry.experts(),
                (memory, filled) -> {
                    try (CheckpointConversion conversion = new CheckpointConversion(
                            context, geometry.rowLayout(), geometry.experts(), ExpertPacker.of(activations))) {
                        return experts(seed, memory, filled, conversion);
                    }
                });
    }

    private SyntheticExperts synthetic(long seed) {
        return new SyntheticExperts(seed, geometry.layers(), geometry.experts(), geometry.rowLayout(), activations);
    }

    private HostSource experts(long seed, SlabAllocator memory, IntConsumer filled, LayerConversion conversion) {
        if (checkpoint.isEmpty()) {
            return synthetic(seed).hostSource(memory, filled);
        }
        List<Integer> all = IntStream.range(0, geometry.layers()).boxed().toList();
        return new ExpertLoader(checkpoint.get(), conversion)
                .load(all, memory, filled)
                .source();
    }

    /** Where the weights come from, in words. */
    String source() {
        return checkpoint
                        .map(found -> "checkpoint " + geometry.name() + ", headers sha256 " + found.headersSha256())
                        .orElse("seeded experts of model " + geometry.name())
                + (activations == ActivationType.BF16 ? "" : ", " + activations.label() + " activations");
    }
}
