package org.expertpool.harness.verify;

import java.util.Arrays;
import java.util.Optional;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.DeviceMoeEngine;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.engine.Float64Layer;

/** Outputs of layers from the first to the last beside float64, within the bounds of the arithmetic; and tokens alone beside their batch. */
final class FloatConformance {
    /** Of a layer's largest output: that of a bf16's last place, and what the chain may add. */
    private static final double MOST_PEAK_ERROR = 2e-2;

    /** Of a layer's outputs: enough for their error to be a mean. */
    private static final int VALUES = 4096;

    /** Float64 takes its time: of more layers, some, the last among them. */
    private static final int MOST_LAYERS = 8;

    private final EngineShape shape;
    private final DeviceModel model;
    private final LayerEngine resident;
    private final Forwards.Report report;

    FloatConformance(EngineShape shape, DeviceModel model, LayerEngine resident, Forwards.Report report) {
        this.shape = shape;
        this.model = model;
        this.resident = resident;
        this.report = report;
    }

    void run() {
        try (DeviceMoeEngine engine = new DeviceMoeEngine(model, resident)) {
            Float64Layer exact = new Float64Layer(model.source(), shape.topK());
            report.compare("float64, chain and largest output by layer", () -> layers(engine, exact));
            report.compare("float64, worst lane", () -> lanes(engine, exact));
            for (int tokens : shape.wide()) {
                if (tokens > 1 && tokens <= 512) {
                    report.compare(tokens + " tokens, some alone", () -> alone(engine, tokens));
                }
            }
        }
    }

    /** A layer's largest output tells of rows read at wrong places where few values are wrong. */
    private Verification.Outcome layers(DeviceMoeEngine engine, Float64Layer exact) {
        int tokens = Math.max(1, VALUES / shape.row().hidden());
        int step = (shape.layers() + MOST_LAYERS - 1) / MOST_LAYERS;
        for (int layer = shape.layers() - 1; layer >= 0; layer -= step) {
            MoeCalls call = shape.calls(tokens, layer);
            double[] expected = exact.forward(layer, call.roundedInputs(), call.ids(), call.weights());
            double[] actual = call.widen(forward(engine, layer, call));
            double chain = Float64Layer.relativeError(actual, expected);
            double peak = Math.abs(peak(actual) / peak(expected) - 1);
            if (!(chain <= EngineChecks.CHAIN_BOUND && peak <= MOST_PEAK_ERROR)) {
                return outcome(
                        shape.layers() - layer, "layer " + layer + ": chain " + chain + ", largest output " + peak);
            }
        }
        return outcome(shape.layers(), null);
    }

    private Verification.Outcome lanes(DeviceMoeEngine engine, Float64Layer exact) {
        int layer = shape.layers() - 1;
        double worst = 0;
        for (int lane = 0; lane < shape.topK(); lane++) {
            MoeCalls call = shape.calls(1, layer);
            Arrays.fill(call.weights(), 0);
            call.weights()[lane] = 1;
            double error = Float64Layer.relativeError(
                    call.widen(forward(engine, layer, call)),
                    exact.forward(layer, call.roundedInputs(), call.ids(), call.weights()));
            worst = error <= worst ? worst : error; // NaN stays
        }
        return outcome(shape.topK(), worst <= EngineChecks.LANE_BOUND ? null : "lane " + worst);
    }

    private Verification.Outcome alone(DeviceMoeEngine engine, int tokens) {
        MoeCalls batch = shape.calls(tokens, tokens);
        int hidden = shape.row().hidden();
        short[] expected = forward(engine, 0, batch);
        int step = Math.max(1, tokens / 16);
        for (int token = 0; token < tokens; token += step) {
            short[] actual = forward(engine, 0, batch.slice(token, token + 1));
            if (!Arrays.equals(Arrays.copyOfRange(expected, token * hidden, (token + 1) * hidden), actual)) {
                return outcome(token + 1, "token " + token + " differs");
            }
        }
        return outcome(tokens, null);
    }

    private static short[] forward(DeviceMoeEngine engine, int layer, MoeCalls call) {
        return engine.forward(layer, call.activations(), call.ids(), call.weights());
    }

    private static double peak(double[] values) {
        return Arrays.stream(values).map(Math::abs).max().orElse(0); // NaN stays
    }

    private static Verification.Outcome outcome(int steps, String difference) {
        return new Verification.Outcome(steps, 0, 0, Optional.ofNullable(difference));
    }
}
