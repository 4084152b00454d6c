package org.expertpool.harness.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.expertpool.harness.analysis.Advice;
import org.expertpool.harness.analysis.Adviser;
import org.expertpool.harness.analysis.Pricing;
import org.expertpool.harness.cost.DecodeTime;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.units.ByteSize;
import org.expertpool.pool.checkpoint.Models;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code advise}: which N, what speed to expect, and what limits it. */
@Command(
        name = "advise",
        mixinStandardHelpOptions = true,
        description = {
            "Name N for a memory limit and a context, the expected decode speed on a trace, and what limits it.",
            "Modelled, with whole decode graphs; the interval (95 %%) is over the sequences of the trace, or over stretches of"
                    + " 50 forwards where it has fewer than 10, and says nothing of the model's own errors."
        })
final class AdviseCommand implements Callable<Integer> {
    private static final long WARM_FROM = 500;

    @Option(names = "--trace", required = true, description = "A trace of the model's routing.")
    private Path trace;

    @Option(
            names = "--model",
            required = true,
            description = "Model preset, a .toml file of its sizes, or a checkpoint.")
    private String model;

    @Option(names = "--memory", required = true, description = "Memory limit of the card, such as 48GiB.")
    private String memory;

    @Option(names = "--context", required = true, paramLabel = "C", description = "Context in tokens.")
    private long context;

    @Option(
            names = "--device",
            defaultValue = "rtx-pro-6000-48gib",
            paramLabel = "PROFILE",
            description = "Device profile. Default ${DEFAULT-VALUE}.")
    private String device;

    @Option(names = "--policy", defaultValue = "lru", paramLabel = "NAME", description = "Default ${DEFAULT-VALUE}.")
    private String policy;

    @Option(
            names = "--score-from",
            paramLabel = "UNIT=K",
            description = "Default: forward=" + WARM_FROM + " where the trace has twice as many, else all.")
    private String scoreFrom;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Mixin
    private PlannerOptions planner;

    @Mixin
    private TraceInput input;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Pricing pricing = new Pricing(Models.geometry(model), Optional.of(DeviceProfile.load(device)), context);
        Adviser adviser = new Adviser(pricing, ByteSize.parse("--memory", memory), planner.decodeTokens());
        int rows = adviser.rowsPerLayer();
        Advice advice;
        ScoreWindow score;
        try (RoutingTrace opened = input.open(trace)) {
            score = scoreFrom != null
                    ? ScoreWindow.parse(scoreFrom)
                    : ScoreWindow.forwards(opened.forwards() >= 2 * WARM_FROM ? WARM_FROM : 0, Long.MAX_VALUE);
            SimulationRequest request = planner.apply(
                    SimulationRequest.of(List.of(policy), List.of(rows)).withScore(score));
            advice = adviser.advise(opened, request, policy);
            input.printNotices();
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(new ObjectMapper()
                    .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(asMap(advice, score)));
        } else {
            print(out, advice, score);
        }
        out.flush();
        return 0;
    }

    private Map<String, Object> asMap(Advice advice, ScoreWindow score) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("basis", "modelled");
        map.put("model", model);
        map.put("device", device);
        map.put("context_tokens", context);
        map.put("rows_per_layer", advice.rowsPerLayer());
        map.put("policy", advice.policy());
        map.put("score_from", score.toString());
        map.put("hit_ratio", advice.hitRatio());
        map.put("decode_tok_per_s", advice.tokensPerSecond());
        map.put("decode_tok_per_s_low", advice.low());
        map.put("decode_tok_per_s_high", advice.high());
        map.put("interval_over", advice.resampled());
        map.put("limited_by", advice.limitedBy());
        map.put("limits", advice.limits());
        map.put("forward_us", advice.time());
        return map;
    }

    private void print(PrintWriter out, Advice advice, ScoreWindow score) {
        line(out, "N        %d rows per layer (%s, context %d, %s)", advice.rowsPerLayer(), memory, context, device);
        line(
                out,
                "speed    %.1f tok/s, 95 %% from %.1f to %.1f over %s; modelled",
                advice.tokensPerSecond(),
                advice.low(),
                advice.high(),
                advice.resampled());
        line(out, "hits     %.2f %% with %s, scored from %s", 100 * advice.hitRatio(), advice.policy(), score);
        line(out, "limit    %s", advice.limitedBy());
        for (Advice.Limit limit : advice.limits()) {
            line(
                    out,
                    "         %-9s %+6.1f %%  with %s",
                    limit.name(),
                    100 * (limit.tokensPerSecond() / advice.tokensPerSecond() - 1),
                    limit.change());
        }
        DecodeTime time = advice.time();
        line(
                out,
                "forward  %.0f us: planner %.0f, copies %.0f, MoE %.0f, dense %.0f, KV %.0f, gaps %.0f, host %.0f, engine %.0f",
                time.total(),
                time.planner(),
                time.copy(),
                time.moe(),
                time.dense(),
                time.kv(),
                time.launches(),
                time.hostWait(),
                time.engine());
    }

    private static void line(PrintWriter out, String form, Object... values) {
        out.println(String.format(Locale.ROOT, form, values));
    }
}
