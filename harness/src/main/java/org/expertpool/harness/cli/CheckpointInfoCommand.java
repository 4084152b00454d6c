package org.expertpool.harness.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabSource;
import org.expertpool.pool.checkpoint.Checkpoint;
import org.expertpool.pool.checkpoint.HostConversion;
import org.expertpool.pool.checkpoint.Models;
import org.expertpool.pool.checkpoint.StoredTensor;
import org.expertpool.pool.marlin.ScaleLoss;
import org.expertpool.pool.model.ModelGeometry;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code poolbench checkpoint info}: checks a checkpoint and shows what it holds. */
@Command(
        name = "info",
        description = {
            "Check a checkpoint directory and show its sizes; what cannot be read ends with exit 2.",
            "With --values all experts are converted as a run would, one layer in memory at a time."
        },
        mixinStandardHelpOptions = true)
final class CheckpointInfoCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "DIR", description = "The directory with config.json.")
    private Path folder;

    @Option(names = "--values", description = "Read every value: bad scales are refused, the loss of scales told.")
    private boolean values;

    @Option(names = "--json", description = "One JSON object instead of lines.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Checkpoint checkpoint = Models.open(folder);
        Map<String, Object> facts = facts(checkpoint);
        if (values) {
            ScaleLoss loss = convert(checkpoint);
            facts.put("block_scales", loss.blocks());
            facts.put("block_scales_zeroed", loss.zeroed());
            facts.put("block_scales_changed", loss.changed());
            facts.put("block_scales_relative_error", loss.relativeError());
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(new ObjectMapper().writeValueAsString(facts));
        } else {
            facts.forEach((name, value) -> out.printf(Locale.ROOT, "%-28s %s%n", name, value));
        }
        out.flush();
        return 0;
    }

    private static Map<String, Object> facts(Checkpoint checkpoint) {
        ModelGeometry model = checkpoint.geometry();
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("checkpoint", checkpoint.folder().toString());
        facts.put("headers_sha256", checkpoint.headersSha256());
        facts.put("tensors", checkpoint.tensors().size());
        facts.put(
                "tensor_bytes",
                checkpoint.tensors().stream().mapToLong(StoredTensor::bytes).sum());
        facts.put("layers_with_experts", model.layers());
        facts.put("experts", model.experts());
        facts.put("top_k", model.topK());
        facts.put("hidden", model.hidden());
        facts.put("expert_width", model.expertWidth());
        facts.put("row_bytes", model.rowBytes());
        facts.put("all_expert_bytes", model.allExpertBytes());
        facts.put("dense_bytes_per_layer", model.denseBytesPerLayer());
        facts.put("fixed_bytes", model.fixedBytes());
        facts.put("kv_bytes_per_token", model.kvBytesPerToken());
        return facts;
    }

    private static ScaleLoss convert(Checkpoint checkpoint) {
        ModelGeometry model = checkpoint.geometry();
        ByteBuffer slab = ByteBuffer.allocateDirect(SlabSource.slabBytes(model.rowLayout(), model.experts()));
        FloatBuffer alphas = FloatBuffer.allocate(model.experts() * HostSource.PROJECTIONS);
        ScaleLoss loss = ScaleLoss.NONE;
        for (int layer = 0; layer < model.layers(); layer++) {
            loss = loss.plus(new HostConversion(ExpertPacker.DEFAULT).convert(checkpoint, layer, slab, alphas));
        }
        return loss;
    }
}
