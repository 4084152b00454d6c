package org.expertpool.harness.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.sim.ProfileFile;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.plan.Control;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.PolicyName;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of each command that replays a trace at several numbers of rows. */
final class ReplayOptions {
    @Option(
            names = "--rows",
            required = true,
            paramLabel = "N,...",
            description = "Expert rows per layer; n = min(N, experts - 1) of them are used.")
    private String rows;

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
    private PlannerOptions planner;

    /** Where placement can return to its start. */
    enum Boundary {
        SEQUENCE
    }

    /** Takes the names that result files use, and no others. */
    static final class InitialName implements ITypeConverter<Initial> {
        @Override
        public Initial convert(String text) {
            return PlannerOptions.named(Initial.values(), text);
        }
    }

    /** What these options ask for, without the profile, which needs the trace's shape. */
    SimulationRequest request(String policies) {
        return planner.apply(SimulationRequest.of(PolicyName.splitList(policies), parseRows(rows))
                .withInitial(initial)
                .withControls(parseControls(controls))
                .withScore(ScoreWindow.parse(scoreFrom))
                .withResetAtSequence(reset != null));
    }

    boolean hasProfile() {
        return profile != null;
    }

    /** The request with the profile file's counts, where there is one. */
    SimulationRequest withProfile(SimulationRequest request, TraceShape shape) throws IOException {
        return profile == null ? request : request.withProfile(ProfileFile.read(profile, shape));
    }

    private static List<Integer> parseRows(String text) {
        List<Integer> parsed = new ArrayList<>();
        for (String number : text.split(",", -1)) {
            try {
                parsed.add(Integer.valueOf(number.strip()));
            } catch (NumberFormatException notWhole) {
                throw new BadInputException(
                        "--rows \"" + text + "\": expected whole numbers separated by single commas", notWhole);
            }
        }
        return parsed;
    }

    // Names and ranges are checked here, so that a value beyond 32 bits is refused in the control's own words.
    private static Map<String, Integer> parseControls(String text) {
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
