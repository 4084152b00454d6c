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

    /** A made-up model in the shape of the model preset of that name, fitted to nothing: for runs with real arithmetic. */
    public static final String TINY = "tiny";

    private static final RoutingModel QWEN38 = new RoutingModel(
            QWEN38_FLASH_NEXT_PROSE,
            new TraceShape(48, 512, 10, true),
            new Ramp(0.38, 1.22, 13), // popularity spread
            new Ramp(0.56, 1.14, 1.6), // topic spread
            0.28, // off-topic share
            2, // phases
            new Ramp(0.15, 0.78, 1.6), // phase spread
            42, // phase tokens
            new Ramp(0.35, 0.75, 1.6), // drift spread
            62, // drift tokens
            new Ramp(0.67, 1.06, 1.6), // reuse spread
            1.2, // reuse tokens
            1.2, // weight sharpness
            300, // shortest sequence
            420, // longest sequence
            true);

    private static final RoutingModel QWEN3_30B = new RoutingModel(
            QWEN3_30B_A3B,
            new TraceShape(48, 128, 8, true),
            new Ramp(0.30, 0.65, 5.2), // popularity spread
            new Ramp(2.1, 2.67, 2.4), // topic spread
            0.28, // off-topic share
            2, // phases
            new Ramp(0.05, 0.71, 2.4), // phase spread
            29, // phase tokens
            new Ramp(0.36, 1.0, 2.4), // drift spread
            34, // drift tokens
            new Ramp(0.4, 0.24, 2.4), // reuse spread
            1.77, // reuse tokens
            1.2, // weight sharpness
            300, // shortest sequence
            420, // longest sequence
            true);

    private static final RoutingModel TINY_MODEL = new RoutingModel(
            TINY,
            new TraceShape(3, 16, 4, true),
            Ramp.flat(0.5), // popularity spread
            Ramp.flat(0.8), // topic spread
            0.3, // off-topic share
            2, // phases
            Ramp.flat(0.5), // phase spread
            8, // phase tokens
            Ramp.flat(0.5), // drift spread
            8, // drift tokens
            Ramp.flat(0.5), // reuse spread
            1.5, // reuse tokens
            1.2, // weight sharpness
            24, // shortest sequence
            40, // longest sequence
            true);

    private static final List<RoutingModel> PRESETS =
            List.of(QWEN38, QWEN38.withoutMemory(QWEN38_FLASH_NEXT_IID), QWEN3_30B, TINY_MODEL);

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
