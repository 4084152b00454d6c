package org.expertpool.harness.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The published figures of one model and traffic, and the window they were taken over.
 *
 * @param coldForwards forwards of the published cold run
 * @param coldRows rows per layer of the published cold LRU curve
 * @param figures all figures, in the order to print
 */
public record Reference(int coldForwards, List<Double> coldRows, List<PublishedFigure> figures) {
    private static final String IMP_2061 = "kekzl/imp#2061";
    private static final String IMP_1374 = "kekzl/imp#1374";
    private static final String DAVETHA = "davetha/r9700-lru-expert-cache";
    private static final String LLAMA_27861 = "ggml-org/llama.cpp#27861";
    private static final String SUGGESTED = "suggested range";

    private static final int[] COVERAGE_ROWS = {26, 51, 102, 154, 205, 208, 256, 258, 307, 358, 410};
    private static final double[] COVERAGE_LAYER_0 = {.142, .236, .393, .526, .637, .643, .733, .737, .817, .891, .951};
    private static final double[] COVERAGE_LAYER_1 = {.141, .240, .405, .543, .662, .668, .763, .766, .845, .908, .955};
    private static final double[] COVERAGE_LAYER_10 = {.184, .296, .471, .607, .712, .718, .797, .800, .865, .921, .963
    };

    public Reference {
        coldRows = List.copyOf(coldRows);
        figures = List.copyOf(figures);
    }

    /** No figures; the curve is taken at fractions of the experts over the first 300 forwards. */
    static Reference none(int experts) {
        List<Double> rows = new ArrayList<>();
        for (double share : new double[] {1 / 16.0, 1 / 8.0, 3 / 16.0, 1 / 4.0, 3 / 8.0, 1 / 2.0, 3 / 4.0}) {
            rows.add(Math.max(1, Math.rint(share * experts)));
        }
        return new Reference(300, rows.stream().distinct().toList(), List.of());
    }

    /** Qwen3.8-Flash-Next: prose for the cold curve, other traffic for the rest. */
    static Reference qwen38FlashNext() {
        List<PublishedFigure> figures = new ArrayList<>();
        double[] rows = {31, 62, 93, 124, 170.7};
        double[] ratios = {0.435, 0.620, 0.720, 0.789, 0.850};
        addCurve(figures, rows, ratios, IMP_2061);
        figures.add(PublishedFigure.of("distinct_experts_cold_layer_0", 384, IMP_2061));
        figures.add(PublishedFigure.of("top_64_share_cold_layer_0", 0.41, IMP_2061));
        figures.add(PublishedFigure.of("distinct_experts_5_tokens", 31.41, DAVETHA + " (5-row steps)"));
        figures.add(new PublishedFigure("distinct_experts_150_tokens", 260, 380, SUGGESTED));
        figures.add(new PublishedFigure("lru_hit_ratio_steady_64_rows", 0.64, 0.70, SUGGESTED));
        figures.add(PublishedFigure.of("lru_hit_ratio_steady_64_rows", 0.67, LLAMA_27861));
        figures.add(new PublishedFigure("lru_hit_ratio_steady_128_rows", 0.79, 0.83, SUGGESTED));
        figures.add(PublishedFigure.of("lru_hit_ratio_steady_128_rows", 0.81, LLAMA_27861));
        figures.add(new PublishedFigure("lru_hit_ratio_steady_254_rows", 0.92, 0.96, SUGGESTED));
        figures.add(PublishedFigure.of("lru_hit_ratio_steady_254_rows", 0.931, DAVETHA + " (single row)"));
        figures.add(new PublishedFigure("static_miss_ratio_254_rows", 0.20, 0.26, SUGGESTED));
        figures.add(PublishedFigure.of("static_miss_ratio_254_rows", 0.2331, DAVETHA + " (5-row steps)"));
        figures.add(new PublishedFigure("belady_miss_ratio_254_rows", 0.02, 0.035, SUGGESTED));
        figures.add(PublishedFigure.of("belady_miss_ratio_254_rows", 0.026, DAVETHA + " (5-row steps)"));
        addCoverage(figures, "layer_0", COVERAGE_LAYER_0);
        addCoverage(figures, "layer_1", COVERAGE_LAYER_1);
        addCoverage(figures, "layer_10", COVERAGE_LAYER_10);
        return new Reference(300, boxed(rows), figures);
    }

    /** Qwen3-30B-A3B over 256 cold tokens. */
    static Reference qwen330bA3b() {
        List<PublishedFigure> figures = new ArrayList<>();
        double[] rows = {8, 24.3, 48.7, 81.3};
        addCurve(figures, rows, new double[] {0.366, 0.741, 0.894, 0.962}, IMP_1374);
        figures.add(PublishedFigure.of("overlap_ratio_lag_1", 0.366, IMP_1374 + " (8 rows = top-k)"));
        figures.add(PublishedFigure.of("overlap_ratio_lag_1", 0.415, "gajsanders/moe-trace 004 (33 tokens)"));
        return new Reference(256, boxed(rows), figures);
    }

    private static void addCurve(List<PublishedFigure> figures, double[] rows, double[] ratios, String source) {
        for (int point = 0; point < rows.length; point++) {
            figures.add(PublishedFigure.of(
                    "lru_hit_ratio_cold_" + StatisticNames.rows(rows[point]) + "_rows", ratios[point], source));
        }
    }

    private static void addCoverage(List<PublishedFigure> figures, String layer, double[] shares) {
        for (int point = 0; point < shares.length; point++) {
            figures.add(PublishedFigure.of(
                    "coverage_ratio_" + layer + "_top_" + COVERAGE_ROWS[point],
                    shares[point],
                    DAVETHA + " (11,279 tokens)"));
        }
    }

    private static List<Double> boxed(double[] values) {
        return Arrays.stream(values).boxed().toList();
    }
}
