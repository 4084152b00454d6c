package org.expertpool.harness.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;

/** How unevenly experts are selected, order aside: coverage by the most selected, entropy, spread. */
final class Popularity implements Accumulator {
    private static final int[] SINGLE_LAYERS = {0, 1, 10};

    private final int[] coverageRows;
    private final long[][] counts;

    /** @param coverageRows numbers of most selected experts whose share is reported */
    Popularity(int[] coverageRows, int layers, int experts) {
        this.coverageRows = coverageRows.clone();
        counts = new long[layers][experts];
    }

    @Override
    public void observe(long forward, boolean startsSequence, int layer, int[] ids, int topK) {
        for (int lane = 0; lane < topK; lane++) {
            counts[layer][ids[lane]]++;
        }
    }

    /** Selections per expert of one layer, most selected first. */
    long[] ranked(int layer) {
        long[] ascending = counts[layer].clone();
        Arrays.sort(ascending);
        long[] ranked = new long[ascending.length];
        for (int rank = 0; rank < ranked.length; rank++) {
            ranked[rank] = ascending[ascending.length - 1 - rank];
        }
        return ranked;
    }

    @Override
    public void report(Consumer<Statistic> target) {
        List<long[]> layers = new ArrayList<>();
        for (int layer = 0; layer < counts.length; layer++) {
            layers.add(ranked(layer));
        }
        if (Arrays.stream(layers.get(0)).sum() == 0) {
            return;
        }
        report(target, "all_layers", layers);
        for (int layer : SINGLE_LAYERS) {
            if (layer < layers.size()) {
                report(target, "layer_" + layer, List.of(layers.get(layer)));
            }
        }
    }

    private void report(Consumer<Statistic> target, String where, List<long[]> layers) {
        for (int rows : coverageRows) {
            target.accept(new Statistic(
                    "coverage_ratio_" + where + "_top_" + rows, mean(layers, ranked -> coverage(ranked, rows))));
        }
        target.accept(new Statistic("entropy_ratio_" + where, mean(layers, Popularity::normalisedEntropy)));
        target.accept(new Statistic("busiest_over_mean_" + where, mean(layers, Popularity::busiestOverMean)));
        target.accept(new Statistic("distinct_experts_" + where, mean(layers, Popularity::distinct)));
    }

    private static double mean(List<long[]> layers, ToDoubleFunction<long[]> of) {
        return layers.stream().mapToDouble(of).average().orElseThrow();
    }

    /** Share of selections that the {@code rows} most selected experts take. */
    static double coverage(long[] ranked, int rows) {
        return (double) Arrays.stream(ranked).limit(rows).sum()
                / Arrays.stream(ranked).sum();
    }

    /** Entropy of the shares, divided by that of equal shares. */
    private static double normalisedEntropy(long[] ranked) {
        double sum = Arrays.stream(ranked).sum();
        double entropy = 0;
        for (long count : ranked) {
            double share = count / sum;
            entropy -= count == 0 ? 0 : share * Math.log(share);
        }
        return ranked.length == 1 ? 1 : entropy / Math.log(ranked.length);
    }

    private static double busiestOverMean(long[] ranked) {
        return (double) ranked[0] * ranked.length / Arrays.stream(ranked).sum();
    }

    private static double distinct(long[] ranked) {
        return Arrays.stream(ranked).filter(count -> count > 0).count();
    }
}
