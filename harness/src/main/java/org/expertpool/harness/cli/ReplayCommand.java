package org.expertpool.harness.cli;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.replay.Replay;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.DevicePlanner;
import org.expertpool.pool.plan.Planner;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.ReferencePlanner;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code replay}: planner conformance on a file of steps. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Runs steps through the planner; prints its decisions and a hash of its tables.",
            "",
            "Each line of STEPS is one JSON object, and each step gives a line of output:",
            "  {\"layer\":0,\"ids\":[3,7],\"weights\":[0.5,0.5]}   weights: 1.0 if left out",
            "  {\"control\":{\"gate\":1,\"promoteLimit\":2}}       {} changes nothing",
            "  {\"clearError\":true}",
            "A step has 1 to S = K * decode tokens ids of 32 bits; -1 is padding. Controls:",
            "gate (closed at first), promoteLimit, promoteInterval, promoteMinMisses,",
            "protectRecent. Blank lines, unknown or repeated fields and anything else that is",
            "malformed are refused with their line, and nothing is written.",
            ""
        })
final class ReplayCommand implements Callable<Integer> {
    /** Which planner runs. */
    enum Backend {
        JAVA,
        CUDA
    }

    @Parameters(paramLabel = "STEPS", description = "File of JSON lines.")
    private Path steps;

    @Option(names = "--layers", required = true, paramLabel = "L", description = "MoE layers.")
    private int layers;

    @Option(names = "--experts", required = true, paramLabel = "E", description = "Experts per layer.")
    private int experts;

    @Option(names = "--top-k", required = true, paramLabel = "K", description = "Experts per token.")
    private int topK;

    @Option(names = "--rows", required = true, paramLabel = "N", description = "Expert rows per layer, at least K.")
    private int rows;

    @Option(
            names = "--decode-tokens",
            paramLabel = "T",
            defaultValue = "1",
            description = "Tokens of the widest decode forward; the planner holds at most max(1, 64 / K). Default: 1.")
    private int decodeTokens;

    @Option(
            names = "--backend",
            paramLabel = "java|cuda",
            defaultValue = "java",
            description = "The planner to run. Default: java, the reference.")
    private Backend backend;

    @Option(names = "--graph", description = "With --backend cuda: replay each step from a captured graph.")
    private boolean graph;

    @Option(names = "--out", paramLabel = "FILE", description = "Where to write; standard output if left out.")
    private Path out;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        PoolConfig config = new PoolConfig(layers, experts, topK, rows, decodeTokens);
        Replay.requireMemory(config);
        if (backend == Backend.JAVA) {
            if (graph) {
                throw new BadInputException("--graph: expected --backend cuda beside it");
            }
            replay(new ReferencePlanner(config));
            return ExitCode.OK;
        }
        DevicePlanner.Launch launch = graph ? DevicePlanner.Launch.GRAPH : DevicePlanner.Launch.EAGER;
        try (CudaContext context = CudaContext.open();
                DevicePlanner planner = new DevicePlanner(context, config, launch)) {
            spec.commandLine()
                    .getErr()
                    .printf(
                            Locale.ROOT,
                            "replay: %s, driver_kind=%s%n",
                            context.device().name(),
                            kind(context));
            replay(planner);
        }
        return ExitCode.OK;
    }

    private static String kind(CudaContext context) {
        return context.driverKind().name().toLowerCase(Locale.ROOT);
    }

    private void replay(Planner planner) throws IOException {
        if (out == null) {
            replayToStandardOutput(planner);
        } else {
            try (AtomicFile file = AtomicFile.create(out)) {
                Writer writer = new BufferedWriter(new OutputStreamWriter(file.stream(), StandardCharsets.UTF_8));
                Replay.run(steps, planner, writer);
                writer.flush();
                file.commit();
            }
        }
    }

    /** Bad input on the last line must leave nothing written, so the lines wait in a file until the end. */
    private void replayToStandardOutput(Planner planner) throws IOException {
        Path waiting = Files.createTempFile("poolbench-replay", ".jsonl");
        try {
            try (Writer writer = Files.newBufferedWriter(waiting, StandardCharsets.UTF_8)) {
                Replay.run(steps, planner, writer);
            }
            Writer standardOutput = spec.commandLine().getOut();
            try (Reader reader = Files.newBufferedReader(waiting, StandardCharsets.UTF_8)) {
                reader.transferTo(standardOutput);
            }
            standardOutput.flush();
        } finally {
            Files.deleteIfExists(waiting);
        }
    }
}
