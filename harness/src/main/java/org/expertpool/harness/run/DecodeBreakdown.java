package org.expertpool.harness.run;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import java.util.function.Predicate;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.compare.MedianRatio;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.sim.StepHistogram;
import org.expertpool.pool.BadInputException;

/**
 * Where the time of a decode layer goes, microseconds, by differences of measurements: between cells of the same runs (dense
 * reads, all rows resident, launches of kernels one by one), and between layers with imposed misses, weighted by the
 * misses that each cell's layer calls had. The floor is dense reads and, of each call, the longer of its rows' time on
 * the link and the resident layer; the starts of kernels are in both. Repetitions count by their median.
 */
public final class DecodeBreakdown {
    private final LayerTable layers;
    private final Map<String, List<MeasuredDecode>> cells = new LinkedHashMap<>();

    private DecodeBreakdown(LayerTable layers) {
        this.layers = layers;
    }

    /**
     * The table over finished runs, a row a cell in their order.
     *
     * @param layerTable {@code layer.csv} of {@code bench --backend cuda}
     * @throws BadInputException files that do not hold what is needed, or runs without a resident cell in a graph
     */
    public static Table of(List<Path> directories, Path layerTable) throws IOException {
        DecodeBreakdown breakdown = new DecodeBreakdown(LayerTable.read(layerTable));
        for (MeasuredDecode cell : MeasuredDecode.read(directories)) {
            breakdown
                    .cells
                    .computeIfAbsent(cell.directory() + " " + cell.cell().id(), any -> new ArrayList<>())
                    .add(cell);
        }
        return breakdown.table();
    }

    private Table table() {
        Table table = Table.of(
                "breakdown",
                "cell",
                "misses_a_layer",
                "measured_us",
                "dense_us",
                "hits_us",
                "planner_us",
                "copies_us",
                "launches_us",
                "other_us",
                "floor_us",
                "over_floor_percent");
        for (List<MeasuredDecode> cell : cells.values()) {
            MeasuredDecode first = cell.get(0);
            if (first.graphMode() != GraphMode.PIECEWISE && (first.cell().isPool() || isResident(first))) {
                table.add(line(first, micros(cell)));
            }
        }
        return table;
    }

    private List<Object> line(MeasuredDecode cell, double measured) {
        double hits = resident(cell, Axis.NO_REST);
        double dense = cell.cell().rest().equals(Axis.DENSE) ? resident(cell, Axis.DENSE) - hits : 0;
        boolean pool = cell.cell().isPool();
        double planner = pool ? layers.plannerMicros() : 0;
        double copies = mean(cell.steps(), layers::missMicros);
        Optional<Double> inGraph = cell.graphMode() == GraphMode.NONE ? inGraph(cell) : Optional.of(measured);
        double floor = dense + mean(cell.steps(), misses -> Math.max(misses * layers.rowMicros(), hits));
        List<Object> line = new ArrayList<>();
        line.add(cell.cell().id());
        line.add(pool ? rounded(mean(cell.steps(), misses -> misses), 3) : null);
        line.addAll(List.of(rounded(measured, 1), rounded(dense, 1), rounded(hits, 1), rounded(planner, 1)));
        line.add(rounded(copies, 1));
        line.add(inGraph.map(graph -> rounded(measured - graph, 1)).orElse(null));
        line.add(inGraph.map(graph -> rounded(graph - dense - hits - planner - copies, 1))
                .orElse(null));
        line.add(rounded(floor, 1));
        line.add(rounded(100 * (measured / floor - 1), 1));
        return line;
    }

    private static boolean isResident(MeasuredDecode cell) {
        return cell.cell().engine().equals(Axis.RESIDENT);
    }

    /** A resident layer in a graph, from the cell's own run where that has one. */
    private double resident(MeasuredDecode like, String rest) {
        return find(like, other -> isResident(other) && other.cell().rest().equals(rest))
                .orElseThrow(
                        () -> new BadInputException(like.directory() + ": no measured cell of engine resident in a "
                                + "graph with rest " + rest + ", expected one there or in another of the runs"));
    }

    /** The same cell in a graph. */
    private Optional<Double> inGraph(MeasuredDecode like) {
        return find(like, other -> withoutMode(other).equals(withoutMode(like)));
    }

    private Optional<Double> find(MeasuredDecode like, Predicate<MeasuredDecode> wanted) {
        List<List<MeasuredDecode>> found = cells.values().stream()
                .filter(cell -> cell.get(0).graphMode() == GraphMode.FULL_DECODE && wanted.test(cell.get(0)))
                .toList();
        return found.stream()
                .filter(cell -> cell.get(0).directory().equals(like.directory()))
                .findFirst()
                .or(() -> found.stream().findFirst())
                .map(DecodeBreakdown::micros);
    }

    private static String withoutMode(MeasuredDecode cell) {
        return cell.cell().simulationKey() + " " + cell.cell().rest();
    }

    /** A layer's time, the median of a cell's repetitions. */
    private static double micros(List<MeasuredDecode> cell) {
        double median = MedianRatio.median(
                cell.stream().mapToDouble(MeasuredDecode::micros).toArray());
        return median / cell.get(0).model().layers();
    }

    private static double mean(StepHistogram steps, IntToDoubleFunction byMisses) {
        var sum = new Object() {
            double value;
            long steps;
        };
        steps.forEach((selected, misses, count) -> {
            sum.value += count * byMisses.applyAsDouble(misses);
            sum.steps += count;
        });
        return sum.value / sum.steps;
    }

    private static BigDecimal rounded(double value, int digits) {
        return BigDecimal.valueOf(value).setScale(digits, RoundingMode.HALF_EVEN);
    }
}
