package org.expertpool.harness.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.expertpool.harness.cost.CapacityModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.MemoryBudget;
import org.expertpool.harness.cost.SeedCheck;
import org.expertpool.harness.units.ByteSize;
import org.expertpool.pool.model.ModelGeometry;

/**
 * What {@code capacity} prints, as tables or as JSON.
 *
 * @param contexts contexts in tokens, each with the largest N beside it
 * @param values values of N, each with the largest context beside it
 * @param seed the public proposal's figures, where the model is theirs
 */
record CapacityReport(
        ModelGeometry model,
        DeviceProfile profile,
        long memoryBytes,
        CapacityModel capacity,
        List<Long> contexts,
        List<Integer> values,
        Optional<SeedCheck> seed) {
    String json() throws JsonProcessingException {
        ObjectMapper mapper = new ObjectMapper();
        return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(tree(mapper));
    }

    void print(PrintWriter out) {
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
        seed.ifPresent(check -> {
            out.println();
            check.lines().forEach(out::println);
        });
    }

    private ObjectNode tree(ObjectMapper mapper) {
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
        seed.ifPresent(check -> root.set("seed_check", mapper.valueToTree(check.entries())));
        return root;
    }

    private static void budget(ObjectNode entry, MemoryBudget budget) {
        entry.put("bank_bytes", budget.bankBytes());
        entry.put("kv_bytes", budget.kvBytes());
        entry.put("free_bytes", budget.freeBytes());
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
