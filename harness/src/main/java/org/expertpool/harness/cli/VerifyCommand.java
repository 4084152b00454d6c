package org.expertpool.harness.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.verify.CheckpointVerification;
import org.expertpool.harness.verify.ConversionConformance;
import org.expertpool.harness.verify.EngineConformance;
import org.expertpool.harness.verify.PlannerConformance;
import org.expertpool.harness.verify.Verification;
import org.expertpool.harness.verify.VerificationTable;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.DevicePlanner;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.plan.PoolConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code verify}: the conformance suite on this machine. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description = {
            "Compares planners step by step over seeded random and awkward routing, as a table.",
            "java: the reference with a plain telling of the semantics. cuda: the device with the",
            "reference, launched and replayed from graphs; every output and table after every step. engines:",
            "whole forwards on the device, every engine, placement and graph mode beside resident experts.",
            "With --checkpoint: a checkpoint's experts through the engines, within bounds of float64",
            "and of golden outputs beside it, and through pools to the last bit.",
            "Exits 1 where anything differs."
        })
final class VerifyCommand implements Callable<Integer> {
    /** What is verified. */
    enum Backend {
        AUTO,
        JAVA,
        CUDA
    }

    private static final Map<String, PoolConfig> GEOMETRIES = geometries();

    /** Rows from which a step of the slow sides costs milliseconds. */
    private static final int LARGE_ROWS = 2000;

    /** What racecheck gets through in seconds. */
    private static final int QUICK_STEPS = 40;

    @Option(
            names = "--backend",
            defaultValue = "auto",
            paramLabel = "auto|java|cuda",
            description = "auto adds cuda where there is a device.")
    private Backend backend;

    @Option(names = "--quick", description = "At most 40 steps a case, on small shapes; for runs under a sanitizer.")
    private boolean quick;

    @Option(names = "--planners", description = "The planners alone: neither conversion nor engines.")
    private boolean plannersOnly;

    @Option(names = "--engines", description = "The engines on the device alone: no planners.")
    private boolean enginesOnly;

    @Option(names = "--steps", defaultValue = "10000", description = "Steps a small shape; a tenth on large ones.")
    private int steps;

    @Option(names = "--seed", defaultValue = "1", description = "Of the streams.")
    private long seed;

    @Option(names = "--threads", description = "Cases at a time on the device; default: the machine's processors.")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(
            names = "--checkpoint",
            paramLabel = "DIR",
            description = "Verify the engines on this checkpoint's experts, in place of the planners.")
    private Path checkpoint;

    @Option(
            names = "--activations",
            defaultValue = "bf16",
            paramLabel = "bf16|fp16",
            description = "Type of the activations with --checkpoint; without it both are looked at.")
    private String activations;

    @Option(names = "--csv", paramLabel = "FILE", description = "Write the table there as CSV too.")
    private Path csv;

    @Option(names = "--json", description = "Print one JSON object instead of the table.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    private final VerificationTable table = new VerificationTable();

    @Override
    public Integer call() throws IOException {
        if (steps < 1 || threads < 1) {
            throw new BadInputException(
                    "--steps is " + steps + ", --threads " + threads + "; expected at least 1 each");
        }
        if (checkpoint != null && (quick || enginesOnly || plannersOnly)) {
            throw new BadInputException("--checkpoint: expected neither --quick, --engines nor --planners beside it");
        }
        if (checkpoint == null && type() != ActivationType.BF16) {
            throw new BadInputException("--activations: expected --checkpoint beside it");
        }
        if (plannersOnly && enginesOnly) {
            throw new BadInputException("--planners with --engines: expected one of them");
        }
        if (enginesOnly && backend == Backend.JAVA) {
            throw new BadInputException(
                    "--engines with --backend java: engines run on a device, expected --backend cuda");
        }
        if (csv != null) {
            AtomicFile.create(csv).close(); // refused before the work, not after it
        }
        try {
            verify();
        } finally {
            report(); // a run that broke off still shows what it found
        }
        return table.allEqual() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private void verify() throws IOException {
        if (backend != Backend.CUDA && !enginesOnly) {
            verifyJava();
        }
        // Engines alone without a device would compare nothing and look like a success.
        if (backend == Backend.CUDA || enginesOnly || (backend == Backend.AUTO && deviceIsThere())) {
            if (checkpoint != null) {
                CheckpointVerification.cuda(checkpoint, type(), seed, (driverKind, finding) -> {
                    say("cuda", finding.name(), finding.calls(), finding.result());
                    table.add("cuda", driverKind.name().toLowerCase(Locale.ROOT), finding);
                });
            } else {
                verifyDevice();
            }
        }
    }

    private void report() throws IOException {
        if (table.isEmpty()) {
            return;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? table.json() : table.markdown());
        out.flush();
        if (csv != null) {
            AtomicFile.write(csv, table.csv().getBytes(StandardCharsets.UTF_8));
        }
    }

    private void verifyJava() throws IOException {
        if (checkpoint != null) {
            CheckpointVerification.java(checkpoint, type(), seed, finding -> {
                say("java", finding.name(), finding.calls(), finding.result());
                table.add("java", "", finding);
            });
            return;
        }
        GEOMETRIES.forEach((name, config) -> {
            if (config.poolRows() <= LARGE_ROWS) {
                long start = System.nanoTime();
                Verification.Outcome outcome =
                        Verification.referenceAgainstPlain(config, Math.max(100, stepsFor(config) / 10), seed);
                say("java", name, outcome);
                table.add("java", "", name, outcome, (System.nanoTime() - start) * 1e-9);
            }
        });
    }

    private ActivationType type() {
        return ActivationType.of("--activations", activations);
    }

    private boolean deviceIsThere() {
        Optional<String> missing = CudaContext.whyNot();
        missing.ifPresent(reason -> {
            PrintWriter err = spec.commandLine().getErr();
            err.println("verify: cuda left out: " + reason);
            err.flush();
        });
        return missing.isEmpty();
    }

    private void verifyDevice() {
        if (!enginesOnly) {
            verifyPlanners();
        }
        if (!enginesOnly && !plannersOnly) {
            verifyConversion();
        }
        if (!plannersOnly) {
            verifyEngines();
        }
    }

    private void verifyPlanners() {
        List<PlannerConformance.Case> cases = new ArrayList<>();
        GEOMETRIES.forEach((name, config) -> {
            for (DevicePlanner.Launch launch : DevicePlanner.Launch.values()) {
                if (!quick || config.poolRows() <= LARGE_ROWS) {
                    String label = name + ", " + launch.name().toLowerCase(Locale.ROOT);
                    cases.add(
                            new PlannerConformance.Case(label, config, launch, stepsFor(config), seed + cases.size()));
                }
            }
        });
        PlannerConformance.run(
                        cases,
                        Math.min(threads, cases.size()),
                        result -> say("cuda", result.subject().name(), result.outcome()))
                .forEach(result -> table.add(
                        "cuda",
                        result.driverKind().name().toLowerCase(Locale.ROOT),
                        result.subject().name(),
                        result.outcome(),
                        result.seconds()));
    }

    private void verifyConversion() {
        ConversionConformance.run(quick, seed, (driverKind, name, outcome, seconds) -> {
            say("conversion", name, outcome);
            table.add("conversion", driverKind.name().toLowerCase(Locale.ROOT), name, outcome, seconds);
        });
    }

    /** The engines' bits. Apart from the planners, as it needs the whole device. */
    private void verifyEngines() {
        EngineConformance.run(quick, (driverKind, name, outcome, seconds) -> {
            say("engines", name, outcome);
            table.add("engines", driverKind.name().toLowerCase(Locale.ROOT), name, outcome, seconds);
        });
    }

    private int stepsFor(PoolConfig config) {
        int asked = config.poolRows() > LARGE_ROWS ? Math.max(1, steps / 10) : steps;
        return quick ? Math.min(asked, QUICK_STEPS) : asked;
    }

    /** A run that is cut off has said what it found. */
    private void say(String backend, String name, Verification.Outcome outcome) {
        say(backend, name, outcome.steps(), outcome.verdict());
    }

    private void say(String backend, String name, long steps, String result) {
        PrintWriter err = spec.commandLine().getErr();
        err.printf(Locale.ROOT, "verify: %s, %s: %d steps, %s%n", backend, name, steps, result);
        err.flush();
    }

    private static Map<String, PoolConfig> geometries() {
        Map<String, PoolConfig> all = new LinkedHashMap<>();
        all.put("1x2, N=1", new PoolConfig(1, 2, 1, 1, 1));
        all.put("3x8, N=3, 4 tokens", new PoolConfig(3, 8, 2, 3, 4));
        all.put("5x13, N=3, 7 tokens", new PoolConfig(5, 13, 3, 3, 7));
        all.put("2x96, N=40, 8 tokens", new PoolConfig(2, 96, 8, 40, 8));
        all.put("3x512, N=70, top-64", new PoolConfig(3, 512, 64, 70, 1));
        all.put("48x128, N=64", new PoolConfig(48, 128, 8, 64, 1));
        all.put("48x512, N=258", new PoolConfig(48, 512, 10, 258, 1));
        all.put("48x512, N=258, 6 tokens", new PoolConfig(48, 512, 10, 258, 6));
        return all;
    }
}
