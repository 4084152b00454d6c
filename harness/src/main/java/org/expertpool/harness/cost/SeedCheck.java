package org.expertpool.harness.cost;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.sim.SimulationResult;
import org.expertpool.harness.sim.Simulator;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;

/**
 * The public proposal's figures for Qwen3.8-Flash-Next on a card limited to 48 GiB, each beside what the capacity and
 * cost models say. Two constants are fitted, both on N=258; every other line is a prediction.
 */
public record SeedCheck(List<Entry> entries) {
    private static final double GIB = 1L << 30;
    private static final long CARD_BYTES = 48L << 30;
    private static final long LONG_CONTEXT = 262_144;
    private static final double OFFLOADED_BYTES = 40e9;
    private static final int FORWARDS = 2_000;
    private static final int UNSCORED_FORWARDS = 500;
    private static final long SEED = 1;

    /** What a published figure is to the models. */
    public enum Role {
        /** Taken as it is. */
        GIVEN,
        /** A constant was fitted on it. */
        FITTED,
        /** It was not used; the models' value can be wrong. */
        PREDICTED
    }

    /**
     * One published figure.
     *
     * @param statement what it says
     * @param unit unit of both values
     * @param reported the published value
     * @param modelled the models' value
     * @param role whether the figure went into the models or came out of them
     */
    public record Entry(String statement, String unit, double reported, double modelled, Role role) {
        /** Modelled over reported, less one, in percent. */
        public double deviationPercent() {
            return 100 * (modelled / reported - 1);
        }
    }

    public SeedCheck {
        entries = List.copyOf(entries);
    }

    /** Works the models out on the calibrated trace, which takes a few seconds. */
    public static SeedCheck run() {
        ModelGeometry model = ModelPresets.load("qwen3.8-flash-next");
        DeviceProfile card = DeviceProfile.load("rtx-pro-6000-48gib");
        var capacity = new CapacityModel(model, CARD_BYTES, card, CapacityModel.Options.SEED);
        var cost = new CostModel(model, card);
        SimulationResult at258 = simulate(258);
        SimulationResult at208 = simulate(208);
        var entries = new ArrayList<Entry>();
        entries.add(new Entry(
                "usable memory of the 48 GiB",
                "GiB",
                43.2,
                capacity.budget(0, 0).usableBytes() / GIB,
                Role.GIVEN));
        entries.add(new Entry(
                "N=258 leaves for the KV cache",
                "GiB",
                1.24,
                capacity.budget(258, 0).freeBytes() / GIB,
                Role.FITTED));
        entries.add(new Entry(
                "N=258 to N=208 moves",
                "GiB",
                6.2,
                (capacity.bankBytes(258) - capacity.bankBytes(208)) / GIB,
                Role.PREDICTED));
        entries.add(new Entry(
                "context that N=208 holds, at least",
                "tokens",
                LONG_CONTEXT,
                capacity.contextTokens(208).orElse(0),
                Role.PREDICTED));
        entries.add(decode("decode at N=258, context 4,096", 63.19, cost, at258, 4_096, Role.FITTED));
        entries.add(decode("decode at N=208 after 65,536 tokens", 64.9, cost, at208, 65_536, Role.PREDICTED));
        entries.add(decode("decode at N=208 after 131,072 tokens", 70.7, cost, at208, 131_072, Role.PREDICTED));
        double hostLayers = OFFLOADED_BYTES / model.layerBytes();
        entries.add(new Entry(
                "UVA, 40 GB of experts on the host, eager",
                "tok/s",
                7.42,
                1e6 / cost.uvaDecodeMicros(GraphMode.NONE, hostLayers, 4_096),
                Role.PREDICTED));
        return new SeedCheck(entries);
    }

    /** A table for people, one line an entry. */
    public List<String> lines() {
        var lines = new ArrayList<String>();
        lines.add(String.format(
                Locale.ROOT,
                "%-42s %10s %10s %9s",
                "the public proposal's figures",
                "reported",
                "modelled",
                "deviation"));
        for (Entry entry : entries) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%-42s %10s %10s %+8.1f%%  %-6s %s",
                    entry.statement(),
                    number(entry.reported()),
                    number(entry.modelled()),
                    entry.deviationPercent(),
                    entry.unit(),
                    entry.role().name().toLowerCase(Locale.ROOT)));
        }
        return lines;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 1000 ? "%.2f" : "%.0f", value);
    }

    private static Entry decode(
            String statement, double reported, CostModel cost, SimulationResult simulated, long context, Role role) {
        double micros = cost.decodeMicros(GraphMode.FULL_DECODE, simulated.steps(), context);
        return new Entry(statement, "tok/s", reported, 1e6 / micros, role);
    }

    private static SimulationResult simulate(int rows) {
        var request = SimulationRequest.of(List.of("lru"), List.of(rows))
                .withScore(ScoreWindow.forwards(UNSCORED_FORWARDS, FORWARDS));
        try (RoutingTrace trace = SyntheticTraces.preset("qwen3.8-flash-next-prose", FORWARDS, SEED)) {
            return Simulator.simulate(trace, request).get(0);
        }
    }
}
