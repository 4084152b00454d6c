package org.expertpool.harness.stats;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.expertpool.harness.trace.ForwardCursor;
import org.expertpool.harness.trace.RoutingTrace;
import org.expertpool.harness.trace.TraceShape;
import org.expertpool.harness.trace.synthetic.SyntheticTraces;

/**
 * Locality statistics of a trace, and how far they lie from published ones. Forwards of one token count; wider ones
 * (prefill, batches) are left out. What the trace is too short for is absent.
 */
public final class TraceStatistics {
    /** Forwards looked at unless told otherwise: plenty for every statistic, and seconds of work. */
    public static final long DEFAULT_FORWARDS = 20_000;

    private static final long STEADY_FROM = 500;
    private static final int[] COVERAGE_ROWS = {26, 51, 102, 154, 205, 208, 256, 258, 307, 358, 410};

    private final Map<String, Double> values = new LinkedHashMap<>();
    private final Reference reference;

    private TraceStatistics(Reference reference) {
        this.reference = reference;
    }

    /**
     * Takes the statistics of at most {@code maxForwards} forwards from the start, in one pass. The two bounds take further
     * passes, and are absent where the trace is longer.
     */
    public static TraceStatistics of(RoutingTrace trace, long maxForwards) {
        Reference reference = referenceFor(trace);
        List<Accumulator> accumulators = accumulators(trace, reference);
        TraceShape shape = trace.shape();
        ForwardCursor cursor = trace.cursor();
        int[] ids = new int[shape.topK()];
        long sequences = 0;
        for (long forward = 0; forward < maxForwards && cursor.next(); forward++) {
            sequences += cursor.startsSequence() ? 1 : 0;
            if (cursor.tokens() != 1) {
                continue;
            }
            for (int layer = 0; layer < shape.layers(); layer++) {
                cursor.ids(layer, ids);
                for (Accumulator accumulator : accumulators) {
                    accumulator.observe(cursor.forward(), cursor.startsSequence(), layer, ids, shape.topK());
                }
            }
        }
        TraceStatistics statistics = new TraceStatistics(reference);
        accumulators.forEach(accumulator -> accumulator.report(statistics::add));
        int halfRows = halfRows(shape);
        if (trace.forwards() <= maxForwards && halfRows >= shape.topK()) {
            new Bounds(trace, halfRows).report(sequences, steadyFrom(trace), statistics::add);
        }
        return statistics;
    }

    private static long steadyFrom(RoutingTrace trace) {
        return Math.min(STEADY_FROM, trace.forwards() / 4);
    }

    /** Rows of the published comparison of bounds, 254 of 512, at any number of experts. */
    private static int halfRows(TraceShape shape) {
        return (int) (shape.experts() * 254L / 512);
    }

    private static List<Accumulator> accumulators(RoutingTrace trace, Reference reference) {
        TraceShape shape = trace.shape();
        int layers = shape.layers();
        int experts = shape.experts();
        double[] coldRows =
                reference.coldRows().stream().mapToDouble(Double::doubleValue).toArray();
        double[] steadyRows = {experts / 8.0, experts / 4.0, halfRows(shape)};
        return List.of(
                new ReuseDistances("cold", 0, reference.coldForwards(), coldRows, layers, experts),
                new ColdLayer(reference.coldForwards(), experts),
                new ReuseDistances("steady", steadyFrom(trace), Long.MAX_VALUE, steadyRows, layers, experts),
                new LagOverlap(layers, experts),
                new DistinctInWindow(5, layers, experts),
                new DistinctInWindow(150, layers, experts),
                new Popularity(COVERAGE_ROWS, layers, experts));
    }

    private static Reference referenceFor(RoutingTrace trace) {
        String source = trace.source();
        if (source.contains(SyntheticTraces.QWEN38_FLASH_NEXT_PROSE)) {
            return Reference.qwen38FlashNext();
        }
        return source.contains(SyntheticTraces.QWEN3_30B_A3B)
                ? Reference.qwen330bA3b()
                : Reference.none(trace.shape().experts());
    }

    private void add(Statistic statistic) {
        values.put(statistic.name(), statistic.value());
    }

    /** One statistic by name; empty where there is none of that name or the trace is too short for it. */
    public OptionalDouble value(String name) {
        Double value = values.get(name);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
    }

    /** All statistics in order. */
    public List<Statistic> all() {
        return values.entrySet().stream()
                .map(entry -> new Statistic(entry.getKey(), entry.getValue()))
                .toList();
    }

    /** The figures published for this kind of traffic; none for a trace of unknown origin. */
    public List<PublishedFigure> published() {
        return reference.figures();
    }

    /** Lines of a table: statistic, value, and per published figure that value, the deviation and the source. */
    public List<String> table() {
        List<String> lines = new ArrayList<>();
        if (values.isEmpty()) {
            return lines;
        }
        lines.add(
                String.format(Locale.ROOT, "%-44s %9s %15s %9s  %s", "statistic", "value", "published", "off by", ""));
        for (Statistic statistic : all()) {
            String line = String.format(Locale.ROOT, "%-44s %9.4f", statistic.name(), statistic.value());
            List<PublishedFigure> figures = published().stream()
                    .filter(figure -> figure.statistic().equals(statistic.name()))
                    .toList();
            if (figures.isEmpty()) {
                lines.add(line);
            }
            for (PublishedFigure figure : figures) {
                lines.add(line + beside(figure, statistic.value()));
            }
        }
        return lines;
    }

    private static String beside(PublishedFigure figure, double value) {
        String published = figure.low() == figure.high()
                ? String.format(Locale.ROOT, "%.4g", figure.low())
                : String.format(Locale.ROOT, "%.4g to %.4g", figure.low(), figure.high());
        return String.format(Locale.ROOT, " %15s %+9.4f  %s", published, figure.deviation(value), figure.source());
    }
}
