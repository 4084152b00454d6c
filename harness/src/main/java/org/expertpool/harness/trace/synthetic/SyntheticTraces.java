package org.expertpool.harness.trace.synthetic;

import java.util.List;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.pool.BadInputException;

/** The presets by name. How their numbers were found and what they reproduce: notes/log/2026-11-29-trace-calibration.md. */
public final class SyntheticTraces {
    /** Prose decoded by Qwen3.8-Flash-Next: fitted to the hit-ratio curve of imp issue 2061. */
    public static final String QWEN38_FLASH_NEXT_PROSE = "qwen3.8-flash-next-prose";

    /** The same popularity without memory: the control in which recency must not help. */
    public static final String QWEN38_FLASH_NEXT_IID = "qwen3.8-flash-next-iid";

    /** Qwen3-30B-A3B: fitted to the hit-ratio curve of imp issue 1374. */
    public static final String QWEN3_30B_A3B = "qwen3-30b-a3b";

    private static final RoutingModel QWEN38 = new RoutingModel(
            QWEN38_FLASH_NEXT_PROSE,
            new TraceShape(48, 512, 10, true),
            new Ramp(0.35, 1.09, 13.6),
            new Ramp(0.58, 1.0, 0.82),
            0.3,
            3,
            new Ramp(0.15, 0.75, 0.82),
            37,
            new Ramp(0.36, 0.73, 0.82),
            66,
            new Ramp(0.72, 1.02, 0.82),
            1.45,
            1,
            300,
            700,
            true);

    private static final RoutingModel QWEN3_30B = new RoutingModel(
            QWEN3_30B_A3B,
            new TraceShape(48, 128, 8, true),
            new Ramp(0.3657, 0.6988, 5.3190),
            new Ramp(1.7243, 2.6978, 1.6081),
            0.2394,
            3,
            new Ramp(0.0663, 0.5917, 1.6081),
            51,
            new Ramp(0.2177, 1.0590, 1.6081),
            44.4130,
            new Ramp(0.4427, 0.3701, 1.6081),
            2.4561,
            1,
            300,
            700,
            true);

    private static final List<RoutingModel> PRESETS =
            List.of(QWEN38, QWEN38.withoutMemory(QWEN38_FLASH_NEXT_IID), QWEN3_30B);

    private SyntheticTraces() {}

    /** Preset names, in the order they are documented. */
    public static List<String> names() {
        return PRESETS.stream().map(RoutingModel::name).toList();
    }

    /**
     * @throws BadInputException if no preset has this name; the message lists those there are
     */
    public static RoutingModel model(String preset) {
        return PRESETS.stream()
                .filter(model -> model.name().equals(preset))
                .findFirst()
                .orElseThrow(() -> new BadInputException(
                        "preset is '" + preset + "', expected one of " + String.join(", ", names())));
    }

    public static SyntheticTrace preset(String preset, long forwards, long seed) {
        return new SyntheticTrace(model(preset), forwards, seed);
    }
}
