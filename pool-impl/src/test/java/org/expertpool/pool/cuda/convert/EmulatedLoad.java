package org.expertpool.pool.cuda.convert;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.SlabAllocator;
import org.expertpool.pool.checkpoint.Checkpoint;
import org.expertpool.pool.checkpoint.CheckpointFixture;
import org.expertpool.pool.checkpoint.ExpertLoader;
import org.expertpool.pool.checkpoint.HostConversion;
import org.expertpool.pool.checkpoint.LoadedExperts;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.marlin.ScaleLoss;

/** What the child JVM of {@link CheckpointConversionTest} runs: checkpoints loaded through the device and without. */
final class EmulatedLoad {
    private EmulatedLoad() {}

    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createTempDirectory("checkpoint");
        try (CudaContext context = CudaContext.open()) {
            CheckpointFixture fixture = new CheckpointFixture();
            Checkpoint checkpoint = Checkpoint.open(fixture.write(folder));
            LoadedExperts expected = new ExpertLoader(checkpoint, new HostConversion(ExpertPacker.DEFAULT)).load();
            for (int most : new int[] {4, 3, 1}) {
                compare(context, checkpoint, most, expected);
            }
            fixture.replace("model.layers.1.mlp.experts.2.down_proj.weight_scale_2", CheckpointFixture.scalar(-1f));
            refuse(context, fixture, folder);
            fixture.replace("model.layers.1.mlp.experts.2.down_proj.weight_scale_2", CheckpointFixture.scalar(1f));
            fixture.replace("model.layers.0.mlp.experts.1.up_proj.weight_scale_2", CheckpointFixture.scalar(0x1p100f));
            refuse(context, fixture, folder);
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        } finally {
            try (Stream<Path> files = Files.list(folder)) {
                files.forEach(file -> file.toFile().delete());
            }
            Files.delete(folder);
        }
    }

    private static void compare(CudaContext context, Checkpoint checkpoint, int most, LoadedExperts expected) {
        ScaleLoss[] loss = new ScaleLoss[1];
        try (PinnedSource source = PinnedSource.load(context, memory -> {
            LoadedExperts loaded = load(context, checkpoint, most, memory);
            loss[0] = loaded.loss();
            return loaded.source();
        })) {
            for (int key = 0; key < 8; key++) {
                if (source.row(key / 4, key % 4).mismatch(expected.source().row(key / 4, key % 4)) >= 0) {
                    throw new AssertionError("row " + key + " differs");
                }
            }
            if (!source.alphas().equals(expected.source().alphas())) {
                throw new AssertionError("alphas differ");
            }
            String losses = loss[0].equals(expected.loss()) ? "losses equal" : loss[0] + " " + expected.loss();
            System.out.println(
                    "most " + most + ": 8 rows and " + source.alphas().remaining() + " alphas equal, " + losses);
        }
    }

    private static LoadedExperts load(CudaContext context, Checkpoint checkpoint, int most, SlabAllocator memory) {
        try (CheckpointConversion conversion =
                new CheckpointConversion(context, checkpoint.geometry().rowLayout(), ExpertPacker.DEFAULT, most)) {
            return new ExpertLoader(checkpoint, conversion).load(List.of(0, 1), memory, layers -> {});
        }
    }

    private static void refuse(CudaContext context, CheckpointFixture fixture, Path folder) throws IOException {
        Checkpoint checkpoint = Checkpoint.open(fixture.write(folder));
        try (PinnedSource source = PinnedSource.load(
                context, memory -> load(context, checkpoint, 3, memory).source())) {
            throw new AssertionError("accepted " + source.layers() + " layers");
        } catch (BadInputException refused) {
            // Without the folder, and without the part of the message that other tests hold.
            System.out.println("refused: "
                    + refused.getMessage()
                            .replaceFirst("^" + folder + "[/:] ?", "")
                            .replaceFirst(" and scale.*", ""));
        }
    }
}
