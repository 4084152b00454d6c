package org.expertpool.harness.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.expertpool.harness.cost.CapacityModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.MemoryBudget;
import org.expertpool.harness.cost.SeedCheck;
import org.expertpool.harness.units.ByteSize;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;
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

    @Option(names = "--model", required = true, description = "Model preset, or a .toml file of its sizes.")
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
        ModelGeometry model = ModelPresets.load(modelName);
        DeviceProfile profile = DeviceProfile.load(device);
        long memoryBytes = ByteSize.parse("--memory", memory);
        var options = new CapacityModel.Options(chunkTokens, streamRingRows, decodeTokens);
        var capacity = new CapacityModel(model, memoryBytes, profile, options);
        requireAtLeast("--context", contexts.stream().mapToLong(Long::longValue).min(), 0);
        contexts.forEach(context -> capacity.budget(0, context)); // one too large is refused before the first line
        List<Integer> values = rows == null ? spread(model) : rows;
        requireAtLeast("--rows", values.stream().mapToLong(Integer::longValue).min(), 1);
        SeedCheck seed = SEED_MODEL.equals(model.name()) ? SeedCheck.run() : null;
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(new ObjectMapper()
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(asJson(model, profile, memoryBytes, capacity, values, seed)));
        } else {
            print(out, model, profile, memoryBytes, capacity, values);
            if (seed != null) {
                out.println();
                seed.lines().forEach(out::println);
            }
        }
        out.flush();
        return 0;
    }

    private void print(
            PrintWriter out,
            ModelGeometry model,
            DeviceProfile profile,
            long memoryBytes,
            CapacityModel capacity,
            List<Integer> values) {
        MemoryBudget base = capacity.budget(0, 0);
        line(
                out,
                "model   %s: %d layers x %d experts, top-%d, row %,d bytes, all experts %s",
                model.name(),
                model.layers(),
                model.experts(),
                model.topK(),
                model.rowBytes(),
                ByteSize.gib(model.allExpertBytes()));
        line(
                out,
                "memory  %s, usable %s (%s)",
                ByteSize.gib(memoryBytes),
                ByteSize.gib(base.usableBytes()),
                profile.label());
        line(
                out,
                "beside bank and KV cache: fixed %s, CUDA context %s, workspace %s, stream ring %s, staging rows %s",
                ByteSize.gib(base.fixedBytes()),
                ByteSize.gib(base.cudaContextBytes()),
                ByteSize.gib(base.workspaceBytes()),
                ByteSize.gib(base.streamRingBytes()),
                ByteSize.gib(base.stagingBytes()));
        out.println();
        line(out, "%14s %10s %12s %12s %12s", "context tokens", "largest N", "bank", "KV cache", "left");
        for (long context : contexts) {
            OptionalInt fits = capacity.rowsPerLayer(context);
            if (fits.isEmpty()) {
                line(out, "%14d %10s", context, "none");
            } else {
                row(
                        out,
                        "%14d %10d %12s %12s %12s",
                        context,
                        fits.getAsInt(),
                        capacity.budget(fits.getAsInt(), context));
            }
        }
        out.println();
        line(out, "%14s %14s %12s %12s %12s", "N", "context tokens", "bank", "KV cache", "left");
        for (int n : values) {
            OptionalLong context = capacity.contextTokens(n);
            if (context.isPresent()) {
                row(out, "%14d %14d %12s %12s %12s", n, context.getAsLong(), capacity.budget(n, context.getAsLong()));
            } else {
                boolean fits = capacity.budget(n, 0).fits();
                line(
                        out,
                        "%14d %14s %12s",
                        n,
                        fits ? "KV unknown" : "does not fit",
                        ByteSize.gib(capacity.bankBytes(n)));
            }
        }
    }

    private ObjectNode asJson(
            ModelGeometry model,
            DeviceProfile profile,
            long memoryBytes,
            CapacityModel capacity,
            List<Integer> values,
            SeedCheck seed) {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        root.put("basis", "modelled").put("model", model.name()).put("device", profile.name());
        root.put("memory_bytes", memoryBytes)
                .put("usable_bytes", capacity.budget(0, 0).usableBytes());
        var byContext = root.putArray("by_context");
        for (long context : contexts) {
            ObjectNode entry = byContext.addObject().put("context_tokens", context);
            capacity.rowsPerLayer(context)
                    .ifPresentOrElse(
                            n -> budget(entry.put("rows_per_layer", n), capacity.budget(n, context)),
                            () -> entry.putNull("rows_per_layer"));
        }
        var byRows = root.putArray("by_rows");
        for (int n : values) {
            ObjectNode entry = byRows.addObject().put("rows_per_layer", n);
            capacity.contextTokens(n)
                    .ifPresentOrElse(
                            c -> budget(entry.put("context_tokens", c), capacity.budget(n, c)),
                            () -> entry.putNull("context_tokens"));
        }
        if (seed != null) {
            root.set("seed_check", mapper.valueToTree(seed.entries()));
        }
        return root;
    }

    private static void budget(ObjectNode entry, MemoryBudget budget) {
        entry.put("bank_bytes", budget.bankBytes());
        entry.put("kv_bytes", budget.kvBytes());
        entry.put("free_bytes", budget.freeBytes());
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

    private static void row(PrintWriter out, String form, long first, long second, MemoryBudget budget) {
        line(
                out,
                form,
                first,
                second,
                ByteSize.gib(budget.bankBytes()),
                ByteSize.gib(budget.kvBytes()),
                ByteSize.gib(budget.freeBytes()));
    }

    private static void line(PrintWriter out, String form, Object... values) {
        out.println(String.format(Locale.ROOT, form, values));
    }
}
