package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CurvesTest {
    private static ResultsRow row(String cell, double x, double y, String... more) {
        Map<String, String> cells = new LinkedHashMap<>();
        cells.put("cell", cell);
        cells.put("x", Double.toString(x));
        cells.put("y", Double.toString(y));
        for (int i = 0; i < more.length; i += 2) {
            cells.put(more[i], more[i + 1]);
        }
        return new ResultsRow("test", 1, cells);
    }

    private static List<Curve> curves(Set<String> ignored, ResultsRow... rows) {
        return Curves.of(List.of(rows), row -> row.number("x"), row -> row.number("y"), row -> false, ignored);
    }

    @Test
    void takesTheMedianOverRepetitionsAndSeedsAndKeepsTheRange() {
        List<Curve> curves = curves(
                Set.of(),
                row("rows=2,seed=1", 2, 7, "seed", "1"),
                row("rows=1,seed=1", 1, 3, "seed", "1"),
                row("rows=1,seed=2", 1, 10, "seed", "2"),
                row("rows=1,seed=3", 1, 4, "seed", "3"),
                row("rows=2,seed=2", 2, 8, "seed", "2"));
        assertThat(curves).hasSize(1);
        assertThat(curves.get(0).points())
                .containsExactly(
                        new Point(1, 4, 3, 10, 3, false, "", false), new Point(2, 7.5, 7, 8, 2, false, "", false));
    }

    @Test
    void neverMixesRowsThatDifferInADimensionOrAnUnknownCellKey() {
        List<Curve> curves = curves(
                Set.of(),
                row("rows=1", 1, 1, "policy", "lru", "trace", "a"),
                row("rows=1", 1, 2, "policy", "lru", "trace", "b"),
                row("rows=1,control.promoteLimit=1", 1, 3, "policy", "lru", "trace", "a"),
                row("rows=1,control.promoteLimit=2", 1, 4, "policy", "lru", "trace", "a"));
        assertThat(curves).flatExtracting(Curve::points).extracting(Point::y).containsExactly(1.0, 2.0, 3.0, 4.0);
    }

    @Test
    void ignoresTheDimensionsItIsToldTo() {
        List<Curve> curves = curves(
                Set.of("graph_mode", "memory"),
                row("rows=1,graph_mode=none,memory=1GiB", 1, 1, "graph_mode", "none"),
                row("rows=1,graph_mode=full,memory=2GiB", 1, 1, "graph_mode", "full"));
        assertThat(curves).hasSize(1);
        assertThat(curves.get(0).points()).hasSize(1);
    }

    @Test
    void splitsCellIdsOutsideParenthesesOnly() {
        assertThat(Curves.cellKeys("policy=evict.lru+promote.nth-touch(2,8),rows=16,odd"))
                .containsExactly(entry("policy", "evict.lru+promote.nth-touch(2,8)"), entry("rows", "16"));
        assertThat(Curves.cellKeys("")).isEmpty();
        assertThat(Curves.cellKeys("a=(1,b=2")).containsExactly(entry("a", "(1,b=2"));
    }

    @Test
    void namesCurvesByWhatTellsThemApartAndNoMore() {
        List<Curve> curves = curves(
                Set.of(),
                row("", 1, 1, "policy", "lru", "graph_mode", "none", "window", "warm", "initial", "first-n"),
                row("", 1, 1, "policy", "lru", "graph_mode", "full", "window", "warm", "initial", "first-n"),
                row("", 1, 1, "policy", "lru", "graph_mode", "full", "window", "cold", "initial", "empty"));
        assertThat(Curves.telling(curves, "graph_mode")).containsExactly("graph_mode", "window");
        assertThat(Curves.telling(curves.subList(0, 1), "policy")).containsExactly("policy");
    }

    @Test
    void joinsCurvesOfTheColourDimensionThatCoincide() {
        List<Curve> curves = curves(
                Set.of(),
                row("", 1, 5, "graph_mode", "none"),
                row("", 1, 6, "graph_mode", "full-decode"),
                row("", 1, 6, "graph_mode", "full"),
                row("", 1, 6, "graph_mode", "full", "window", "cold"));
        assertThat(CurveSeries.of(curves, "graph_mode", curve -> false))
                .extracting(Series::label)
                .containsExactly("graph mode none", "graph mode full-decode = full", "graph mode full, cold");
    }

    @Test
    void givesEveryCurveALookOfItsOwn() {
        List<ResultsRow> rows = new java.util.ArrayList<>();
        for (String policy : List.of("evict.lru", "evict.lfu", "evict.arc", "static.profile", "bound.belady")) {
            for (String scope : List.of("global", "layer")) {
                for (String window : List.of("warm", "cold")) {
                    rows.add(row("", 1, rows.size(), "policy", policy, "scope", scope, "window", window));
                }
            }
        }
        List<Series> series =
                CurveSeries.of(curves(Set.of(), rows.toArray(ResultsRow[]::new)), "policy", curve -> false);
        assertThat(series).hasSize(20);
        assertThat(series).extracting(Series::style).doesNotHaveDuplicates();
        assertThat(series).extracting(Series::label).doesNotHaveDuplicates();
        assertThat(series).allSatisfy(one -> assertThat(one.style().dash()).isNotEqualTo(SeriesStyle.Dash.NONE));
    }
}
