package org.expertpool.harness.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.sim.PlacementFile;
import org.expertpool.harness.sim.ProfileFile;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationCsv;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.Control;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicyName;
import org.expertpool.pool.policy.Scope;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code simulate}: replays a trace through placement policies and prints exact counts as CSV. */
@Command(
        name = "simulate",
        mixinStandardHelpOptions = true,
        description = {
            "Replay a routing trace through placement policies: one CSV row per (policy, rows).",
            "The gate opens before the first event. Experts are counted distinct per step; forwards with more lanes"
                    + " than the planner are in the partition_* columns alone and change no placement.",
            "Policies: a base, then promotion rules and settings, joined by +, for example",
            "  evict.lru+promote.nth-touch(2,8)+scope.layer",
            "--list-policies prints all parts. Short names of bases: lru and so on for evict.lru, belady (with bypass) and"
                    + " belady-forced for bound.belady and bound.belady-forced, static for",
            "static.profile, static-leaky, heat, half-pinned. Arguments left out take their defaults.",
            "Promotion controls and --initial do not bear on static; controls do not bear on heat and belady. Belady takes"
                    + " four bytes of memory per selection of the trace. Results do not depend on --threads."
        })
final class SimulateCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "TRACE", description = "Trace file of any known form.")
    private Path trace;

    @Option(
            names = "--rows",
            required = true,
            split = ",",
            paramLabel = "N",
            description = "Expert rows per layer; n = min(N, experts - 1) of them are used.")
    private List<Integer> rows;

    @Option(
            names = "--policy",
            required = true,
            paramLabel = "NAME,...",
            description = "Policy names; commas inside parentheses belong to a name.")
    private String policies;

    @Option(
            names = "--scope",
            defaultValue = "global",
            converter = ScopeName.class,
            description =
                    "global: a miss may take any row; layer: only its own layer's; miss-curve: the same, rows split by"
                            + " the layers' LRU misses over the first half of the trace. Default ${DEFAULT-VALUE}.")
    private Scope scope;

    @Option(
            names = "--initial",
            defaultValue = "first-n",
            converter = InitialName.class,
            description = "first-n: experts 0..n-1 of each layer are resident; empty: none; profile: the most selected."
                    + " Default ${DEFAULT-VALUE}.")
    private Initial initial;

    @Option(
            names = "--control",
            paramLabel = "NAME=VALUE,...",
            description = "Planner controls: gate, promoteLimit, promoteInterval, promoteMinMisses, protectRecent.")
    private String controls;

    @Option(
            names = "--decode-tokens",
            defaultValue = "1",
            paramLabel = "T",
            description = "Tokens of the widest forward that is planned. Default ${DEFAULT-VALUE}.")
    private int decodeTokens;

    @Option(
            names = "--threads",
            paramLabel = "T",
            description = "Policies simulated at once. Default: the number of cores.")
    private Integer threads;

    @Option(
            names = "--list-policies",
            help = true,
            description = "Print the parts of policy names with their parameters and exit.")
    private boolean listPolicies;

    @Option(
            names = "--score-from",
            defaultValue = "forward=0",
            paramLabel = "UNIT=K",
            description = "forward=K or sequence=K: earlier events change state but are not counted."
                    + " Default ${DEFAULT-VALUE}.")
    private String scoreFrom;

    @Option(
            names = "--reset",
            paramLabel = "sequence",
            description = "sequence: return to the start placement at every sequence. Default: carry over.")
    private Boundary reset;

    @Option(
            names = "--profile",
            paramLabel = "FILE",
            description =
                    "CSV layer,expert,count for static, pinned and warm placements; else the first half of the sequences,"
                            + " rounded down, or of the forwards where there is one sequence.")
    private Path profile;

    @Mixin
    private TraceInput input;

    @Option(names = "--out", paramLabel = "FILE.csv", description = "Write there instead of to the standard output.")
    private Path out;

    @Option(names = "--json", description = "A JSON array instead of CSV, an object per row.")
    private boolean json;

    @Option(
            names = "--save-placement",
            paramLabel = "FILE.csv",
            description = "Keep the placement at the end of the trace, of one policy and one number of rows.")
    private Path savePlacement;

    @Option(
            names = "--warm-placement",
            paramLabel = "FILE.csv",
            description = "Start with a placement that was kept, instead of --initial; one number of rows.")
    private Path warmPlacement;

    /** Where placement can return to its start. */
    enum Boundary {
        SEQUENCE
    }

    /** Takes the names that result files use, and no others. */
    static final class ScopeName implements ITypeConverter<Scope> {
        @Override
        public Scope convert(String text) {
            return named(Scope.values(), text);
        }
    }

    /** As {@link ScopeName}. */
    static final class InitialName implements ITypeConverter<Initial> {
        @Override
        public Initial convert(String text) {
            return named(Initial.values(), text);
        }
    }

    private static <T> T named(T[] values, String text) {
        return Arrays.stream(values)
                .filter(value -> value.toString().equals(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException(
                        "expected one of " + Arrays.toString(values) + " but was '" + text + "'"));
    }

    @Override
    public Integer call() throws IOException {
        if (listPolicies) {
            Policies.describe().forEach(spec.commandLine().getOut()::println);
            return 0;
        }
        if (threads != null && threads < 1) {
            throw new BadInputException("--threads is " + threads + ", expected at least 1");
        }
        SimulationRequest request = SimulationRequest.of(PolicyName.splitList(policies), rows)
                .withScope(scope)
                .withInitial(initial)
                .withControls(parseControls(controls))
                .withDecodeTokens(decodeTokens)
                .withScore(ScoreWindow.parse(scoreFrom))
                .withResetAtSequence(reset != null);
        if (warmPlacement != null && profile != null) {
            throw new BadInputException("--warm-placement and --profile are both given, expected one of them");
        }
        // Files that cannot be written are refused before the work, not after it.
        try (AtomicFile table = out == null ? null : AtomicFile.create(out);
                AtomicFile placement = savePlacement == null ? null : AtomicFile.create(savePlacement)) {
            simulate(request, table, placement);
        }
        return 0;
    }

    private void simulate(SimulationRequest request, AtomicFile table, AtomicFile placement) throws IOException {
        int workers = threads == null ? Runtime.getRuntime().availableProcessors() : threads;
        String rowsText;
        String placed;
        try (RoutingTrace opened = input.open(trace)) {
            SimulationRequest whole = withCounts(request, opened.shape());
            placed = placement == null ? "" : PlacementFile.write(opened, whole);
            String csv = SimulationCsv.write(whole, Simulator.simulate(opened, whole, workers));
            rowsText = json ? CsvJson.of(csv) : csv;
            input.printNotices();
        }
        if (placement != null) {
            write(placement, placed);
        }
        if (table != null) {
            write(table, rowsText);
        } else {
            PrintWriter stdout = spec.commandLine().getOut();
            stdout.print(rowsText);
            stdout.flush();
        }
    }

    private SimulationRequest withCounts(SimulationRequest request, TraceShape shape) throws IOException {
        if (warmPlacement != null) {
            return request.withProfile(PlacementFile.read(warmPlacement, shape, request))
                    .withInitial(Initial.PROFILE);
        }
        return profile == null ? request : request.withProfile(ProfileFile.read(profile, shape));
    }

    private static void write(AtomicFile file, String text) throws IOException {
        try (OutputStream stream = file.stream()) {
            stream.write(text.getBytes(StandardCharsets.UTF_8));
        }
        file.commit();
    }

    /** Names and ranges are checked here, so that a value beyond 32 bits is refused in the control's own words. */
    static Map<String, Integer> parseControls(String text) {
        Map<String, Integer> parsed = new HashMap<>();
        if (text == null) {
            return parsed;
        }
        for (String setting : text.split(",", -1)) {
            int equals = setting.indexOf('=');
            if (equals < 0) {
                throw new BadInputException("--control \"" + setting + "\": expected name=value");
            }
            String name = setting.substring(0, equals).strip();
            Control control = Control.named(name);
            if (parsed.put(name, control.require(parseValue(setting, equals + 1))) != null) {
                throw new BadInputException("--control " + name + " is given twice");
            }
        }
        return parsed;
    }

    private static long parseValue(String setting, int start) {
        try {
            return Long.parseLong(setting.substring(start).strip());
        } catch (NumberFormatException notWhole) {
            throw new BadInputException("--control \"" + setting + "\": expected a whole number", notWhole);
        }
    }
}
