package org.expertpool.harness.exact;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.engine.DecodeGraph;
import org.expertpool.pool.cuda.engine.DeviceForward;
import org.expertpool.pool.cuda.engine.DeviceModel;
import org.expertpool.pool.cuda.engine.ForwardSpec;
import org.expertpool.pool.cuda.engine.LayerEngine;
import org.expertpool.pool.cuda.engine.RouteReplay;
import org.expertpool.pool.cuda.engine.RoutingTape;

/**
 * One pass of a trace through an engine on the device. Forwards of one width share a tape and, if asked, a graph; the
 * trace's order is kept. Everything is prepared in the constructor, before a pool's gate is opened.
 */
public final class DeviceReplay implements AutoCloseable {
    /**
     * How calls of so many tokens are made.
     *
     * @param counted whether {@link Result#planned} counts them
     * @param denseBytes read by each layer in the place of its dense weights; 0: none
     */
    public record Way(LayerEngine engine, boolean counted, DecodeGraph mode, long denseBytes) {}

    /**
     * What came out.
     *
     * @param outputSha256 over the device's hashes of every forward's outputs, in order
     * @param forwards forwards in the score window
     * @param decodeMicros time of each decode forward among them on the device, in order
     * @param steadyTokens tokens of those that follow another one at once
     * @param steadyMicros their time: what decode speed is, the first token of a run left out
     * @param planned what counted calls of the window's forwards selected and copied
     */
    public record Result(
            String outputSha256,
            long forwards,
            List<Double> decodeMicros,
            long steadyTokens,
            double steadyMicros,
            RouteReplay.Counts planned) {}

    private static final int MOST_VALUES = 1 << 28;

    /** Forwards that follow each other with the same width and are all scored or none, all prefill or none. */
    private record Stretch(int tokens, boolean scored, boolean prefill, int forwards) {}

    private final List<Stretch> stretches = new ArrayList<>();
    private final Map<Integer, DeviceForward> forwards = new TreeMap<>(); // by tokens
    private final Set<Integer> counted = new HashSet<>(); // tokens

    /** @param ways how calls of so many tokens are made */
    public DeviceReplay(RoutingTrace trace, ScoreWindow window, DeviceModel model, IntFunction<Way> ways, long seed) {
        Map<Integer, Integer> counts = survey(trace, window);
        counts.forEach((tokens, count) -> {
            RoutingTape tape = tape(trace, window, tokens, count);
            Way way = ways.apply(tokens);
            if (way.counted()) {
                counted.add(tokens);
            }
            forwards.put(
                    tokens,
                    new DeviceForward(
                            model,
                            way.engine(),
                            new ForwardSpec(
                                    tokens,
                                    tape,
                                    model.layers(),
                                    seed,
                                    count,
                                    RouteReplay.Reading.ALL,
                                    way.mode(),
                                    way.denseBytes())));
        });
    }

    private Map<Integer, Integer> survey(RoutingTrace trace, ScoreWindow window) {
        Map<Integer, Integer> counts = new TreeMap<>();
        walk(trace, window, (cursor, scored) -> {
            counts.merge(cursor.tokens(), 1, Integer::sum);
            Stretch last = stretches.isEmpty() ? null : stretches.get(stretches.size() - 1);
            Stretch next = new Stretch(cursor.tokens(), scored, cursor.isPrefill(), 1);
            if (last != null && next.equals(new Stretch(last.tokens, last.scored, last.prefill, 1))) {
                stretches.set(stretches.size() - 1, new Stretch(last.tokens, scored, last.prefill, last.forwards + 1));
            } else {
                stretches.add(next);
            }
        });
        return counts;
    }

    private static RoutingTape tape(RoutingTrace trace, ScoreWindow window, int tokens, int count) {
        int layers = trace.shape().layers();
        int lanes = tokens * trace.shape().topK();
        long values = (long) count * layers * lanes;
        if (values > MOST_VALUES) {
            throw new BadInputException("trace: " + count + " forwards of " + tokens + " tokens have " + values
                    + " routed lanes, expected at most " + MOST_VALUES + " on a device");
        }
        int[] ids = new int[(int) values];
        float[] weights = new float[(int) values];
        int[] callIds = new int[lanes];
        float[] callWeights = new float[lanes];
        int[] at = {0};
        walk(trace, window, (cursor, scored) -> {
            for (int layer = 0; layer < layers && cursor.tokens() == tokens; layer++) {
                cursor.ids(layer, callIds);
                cursor.weights(layer, callWeights);
                System.arraycopy(callIds, 0, ids, at[0], lanes);
                System.arraycopy(callWeights, 0, weights, at[0], lanes);
                at[0] += lanes;
            }
        });
        return new RoutingTape(count, layers, lanes, ids, weights);
    }

    private interface Visitor {
        void visit(ForwardCursor cursor, boolean scored);
    }

    private static void walk(RoutingTrace trace, ScoreWindow window, Visitor visitor) {
        ForwardCursor cursor = trace.cursor();
        long sequence = -1;
        while (cursor.next()) {
            sequence += sequence < 0 || cursor.startsSequence() ? 1 : 0;
            if (window.isOver(cursor.forward(), sequence)) {
                return;
            }
            visitor.visit(cursor, window.counts(cursor.forward(), sequence));
        }
    }

    /** Runs the whole pass. */
    public Result run() {
        MessageDigest digest = sha256();
        Map<Integer, Long> done = new TreeMap<>();
        List<Double> decode = new ArrayList<>();
        long scored = 0;
        long steadyTokens = 0;
        double steadyMicros = 0;
        RouteReplay.Counts planned = new RouteReplay.Counts(0, 0, 0, 0);
        for (Stretch stretch : stretches) {
            DeviceForward forward = forwards.get(stretch.tokens);
            RouteReplay.Counts before = forward.routes().counts();
            double[] micros = forward.time(stretch.forwards);
            RouteReplay.Counts after = forward.routes().counts();
            long from = done.getOrDefault(stretch.tokens, 0L);
            for (int i = 0; i < stretch.forwards; i++) {
                add(digest, forward.routes().hash(from + i));
            }
            done.put(stretch.tokens, from + stretch.forwards);
            if (stretch.scored) {
                scored += stretch.forwards;
                if (counted.contains(stretch.tokens)) {
                    planned = planned.plus(after.minus(before));
                }
                if (!stretch.prefill) {
                    Arrays.stream(micros).forEach(decode::add);
                    steadyTokens += (long) stretch.tokens * (stretch.forwards - 1);
                    steadyMicros += Arrays.stream(micros).skip(1).sum();
                }
            }
        }
        return new Result(
                HexFormat.of().formatHex(digest.digest()), scored, decode, steadyTokens, steadyMicros, planned);
    }

    private static void add(MessageDigest digest, long hash) {
        digest.update(ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(hash)
                .flip());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java platform has SHA-256", absent);
        }
    }

    @Override
    public void close() {
        forwards.values().forEach(DeviceForward::close);
    }
}
