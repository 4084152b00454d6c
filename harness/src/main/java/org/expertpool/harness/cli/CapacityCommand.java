package org.expertpool.harness.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.expertpool.harness.cost.CapacityModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.SeedCheck;
import org.expertpool.harness.units.ByteSize;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.checkpoint.Models;
import org.expertpool.pool.model.ModelGeometry;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code capacity}: what N fits beside the KV cache, and what context fits beside N. */
@Command(
        name = "capacity",
        mixinStandardHelpOptions = true,
        description = {
            "Say which N (expert rows per layer) fits beside a context, and which context beside N.",
            "Modelled: bytes are exact, fixed bytes are fitted; see the notes on methodology."
        })
final class CapacityCommand implements Callable<Integer> {
    private static final String SEED_MODEL = "qwen3.8-flash-next";

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--model",
            required = true,
            description = "Model preset, a .toml file of its sizes, or a checkpoint directory.")
    private String modelName;

    @Option(names = "--memory", required = true, description = "Memory limit of the card, such as 48GiB.")
    private String memory;

    @Option(
            names = "--context",
            split = ",",
            defaultValue = "4096,32768,131072,262144",
            description = "Contexts in tokens (default: ${DEFAULT-VALUE}).")
    private List<Long> contexts;

    @Option(
            names = "--rows",
            split = ",",
            description =
                    "Values of N (default: a spread from top-k to all experts, with 208 and 258 where they exist).")
    private List<Integer> rows;

    @Option(
            names = "--device",
            defaultValue = "rtx-pro-6000-48gib",
            description = "Device profile, for the usable fraction and the CUDA context (default: ${DEFAULT-VALUE}).")
    private String device;

    @Option(
            names = "--chunk",
            defaultValue = "512",
            description = "Prefill chunk in tokens (default: ${DEFAULT-VALUE}).")
    private int chunkTokens;

    @Option(
            names = "--stream-ring-rows",
            defaultValue = "0",
            description = "Rows in flight of streamed prefill; 0: the partition path reads the host view (default).")
    private int streamRingRows;

    @Option(
            names = "--decode-tokens",
            defaultValue = "1",
            description = "Tokens per decode forward that the planner plans for (default: ${DEFAULT-VALUE}).")
    private int decodeTokens;

    @Option(names = "--json", description = "Print one JSON object instead of tables.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        ModelGeometry model = Models.geometry(modelName);
        DeviceProfile profile = DeviceProfile.load(device);
        long memoryBytes = ByteSize.parse("--memory", memory);
        var options = new CapacityModel.Options(chunkTokens, streamRingRows, decodeTokens);
        var capacity = new CapacityModel(model, memoryBytes, profile, options);
        requireAtLeast("--context", contexts.stream().mapToLong(Long::longValue).min(), 0);
        contexts.forEach(context -> capacity.budget(0, context)); // one too large is refused before the first line
        List<Integer> values = rows == null ? spread(model) : rows;
        requireAtLeast("--rows", values.stream().mapToLong(Integer::longValue).min(), 1);
        Optional<SeedCheck> seed = SEED_MODEL.equals(model.name()) ? Optional.of(SeedCheck.run()) : Optional.empty();
        PrintWriter out = spec.commandLine().getOut();
        var report = new CapacityReport(model, profile, memoryBytes, capacity, contexts, values, seed);
        if (json) {
            out.println(report.json());
        } else {
            report.print(out);
        }
        out.flush();
        return 0;
    }

    private static List<Integer> spread(ModelGeometry model) {
        var values = new ArrayList<Integer>();
        for (int n : new int[] {16, 32, 64, 96, 128, 160, 192, 208, 224, 258, 288, 320, 384, 448}) {
            if (n >= model.topK() && n < model.experts()) {
                values.add(n);
            }
        }
        return values.isEmpty() ? List.of(model.topK()) : values;
    }

    private static void requireAtLeast(String option, OptionalLong smallest, long least) {
        if (smallest.isEmpty() || smallest.getAsLong() < least) {
            throw new BadInputException(option + ": " + (smallest.isEmpty() ? "empty" : smallest.getAsLong())
                    + ", expected at least " + least);
        }
    }
}
