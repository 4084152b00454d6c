package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What figures show, against the same CSV taken apart by hand here. */
class FigureDataTest {
    @TempDir
    private Path dir;

    private FigureData figure(FakeResults results, String name) throws Exception {
        return Figures.of(results.table(dir)).stream()
                .filter(figure -> figure.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Series series(FigureData figure, String label) {
        return figure.series().stream()
                .filter(series -> series.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new AssertionError(label + " not among "
                        + figure.series().stream().map(Series::label).toList()));
    }

    /** x to y of the CSV's rows that pass, by splitting lines; the cell column has commas, so columns count from the end. */
    private static Map<Double, Double> csv(FakeResults results, String x, String y, Predicate<String> line) {
        int columns = FakeResults.COLUMNS.size();
        Map<Double, Double> points = new TreeMap<>();
        for (String text : results.csv().split("\n")) {
            String[] cells = text.split(",", -1);
            String at = cells[cells.length - columns + FakeResults.COLUMNS.indexOf(x)];
            String value = cells[cells.length - columns + FakeResults.COLUMNS.indexOf(y)];
            if (line.test(text) && !at.isEmpty() && !value.isEmpty()) {
                points.put(Double.valueOf(at), Double.valueOf(value));
            }
        }
        return points;
    }

    private static Map<Double, Double> points(Series series) {
        return series.points().stream().collect(Collectors.toMap(Point::x, Point::y, (one, two) -> two, TreeMap::new));
    }

    private static Predicate<String> has(String... parts) {
        return line -> Arrays.stream(parts).allMatch(line::contains);
    }

    @Test
    void anEngineWithoutAPolicyHasNoCurveOfDecodeSpeed() throws Exception {
        FigureData figure = figure(FakeResults.speedsBesideStreams(), "decode-speed-by-rows");
        assertThat(figure.series().stream().map(Series::label))
                .containsExactlyElementsOf(figure(FakeResults.speeds(), "decode-speed-by-rows").series().stream()
                        .map(Series::label)
                        .toList());
        assertThat(figure.notes()).contains("Not drawn here: static profile (see the hit ratios).");
    }

    @Test
    void decodeSpeedHasEveryRowOfTheFile() throws Exception {
        FakeResults results = FakeResults.speeds();
        FigureData figure = figure(results, "decode-speed-by-rows");
        Map<String, Predicate<String>> expected = Map.of(
                "graph mode none, LRU, warm", has("evict.lru", ",none,", ",warm,"),
                "graph mode piecewise, LRU, warm", has("evict.lru", ",piecewise,", ",warm,"),
                "graph mode full-decode = full, LRU, warm", has("evict.lru", ",full,", ",warm,"),
                "graph mode full-decode, LRU, cold", has("evict.lru", ",full-decode,", ",cold,"),
                "graph mode full-decode, Belady (with bypass), warm", has("bound.belady", ",full-decode,", ",warm,"));
        expected.forEach((label, lines) -> assertThat(points(series(figure, label)))
                .isEqualTo(csv(results, "rows_per_layer", "decode_tok_per_s", lines))
                .hasSize(29));
        assertThat(figure.series()).hasSize(expected.size() + 1);
        assertThat(figure.y().title()).isEqualTo("decode speed (tok/s) at context 4,096");
        assertThat(figure.notes())
                .contains("Context of reported speeds (tokens): N = 258 at 4,096; N = 208 at 262,144.");
        assertThat(figure.notes()).anyMatch(note -> note.startsWith("Not drawn here: static profile"));
    }

    @Test
    void decodeSpeedIsHollowWhereNDoesNotFit() throws Exception {
        FigureData figure = figure(FakeResults.speeds(), "decode-speed-by-rows");
        assertThat(figure.series().get(0).points())
                .allSatisfy(point -> assertThat(point.hollow()).isEqualTo(point.x() > 258));
    }

    @Test
    void reportedMarksAreASeriesOfTheirOwnAndKeepTheirSource() throws Exception {
        FigureData figure = figure(FakeResults.crowdedSpeeds(), "decode-speed-by-rows");
        Series pool = series(figure, "reported, seed, pool (LRU)");
        assertThat(pool.points())
                .extracting(Point::label)
                .containsExactly(
                        "63.19",
                        "42.2 (input 4,096)",
                        "64.9 (input 65,536)",
                        "70.7 (input 131,072)",
                        "42.5 (input 261,632)");
        assertThat(pool.points()).extracting(Point::x).containsExactly(258.0, 208.0, 208.0, 208.0, 208.0);
        assertThat(pool.style().dash()).isEqualTo(SeriesStyle.Dash.NONE);
        assertThat(series(figure, "reported, seed, freetoken").style()).isNotEqualTo(pool.style());
        assertThat(figure.horizontals())
                .containsExactly(new FigureData.Hairline(7.42, "reported, seed, uva: 7.42 tok/s"));
        assertThat(figure.verticals())
                .containsExactly(new FigureData.Hairline(208, "N = 208"), new FigureData.Hairline(258, "N = 258"));
    }

    @Test
    void capacityFigureStandsAtTheContextsOfTheFile() throws Exception {
        FakeResults results = FakeResults.speeds();
        FigureData figure = figure(results, "speed-against-capacity");
        assertThat(points(series(figure, "graph mode none")))
                .isEqualTo(csv(
                        results, "context_capacity_tokens", "decode_tok_per_s", has("evict.lru", ",none,", ",warm,")))
                .hasSize(17);
        assertThat(series(figure, "reported, seed, pool (LRU)").points())
                .extracting(Point::x)
                .containsExactly(4096.0, 262144.0, 262144.0, 262144.0, 262144.0);
        assertThat(figure.verticals()).containsExactly(new FigureData.Hairline(262144, "262,144 tokens"));
        assertThat(figure.y().title()).isEqualTo("decode speed (tok/s) at context 4,096");
        assertThat(figure.notes())
                .anyMatch(note -> note.endsWith("N = 272, 288, 304, 320, 336, 352, 368, 384, 400, 416, 432, 448."));
    }

    @Test
    void capacityFigureNamesNAlongTheUpperCurve() throws Exception {
        FigureData figure = figure(FakeResults.speeds(), "speed-against-capacity");
        List<Point> upper = series(figure, "graph mode full-decode = full").points();
        assertThat(upper)
                .extracting(Point::label)
                .startsWith("N=258", "256", "240", "224", "N=208")
                .endsWith("16");
        assertThat(upper).filteredOn(Point::emphasised).extracting(Point::label).containsExactly("N=258", "N=208");
        assertThat(series(figure, "graph mode none").points())
                .allMatch(point -> point.label().isEmpty());
    }

    @Test
    void hitRatiosFallTogetherOverGraphModesAndSpreadOverSeeds() throws Exception {
        FakeResults speeds = FakeResults.speeds();
        FigureData byPolicy = figure(speeds, "hit-ratio-by-rows");
        assertThat(byPolicy.series())
                .extracting(Series::label)
                .containsExactly("LRU, warm", "LRU, cold", "static profile, warm", "Belady (with bypass), warm");
        assertThat(points(byPolicy.series().get(0)))
                .isEqualTo(csv(speeds, "rows_per_layer", "hit_ratio", has("evict.lru", ",none,", ",warm,")));

        FigureData seeded = figure(FakeResults.hits(), "hit-ratio-by-rows");
        assertThat(seeded.series().get(0).points()).hasSize(28).allSatisfy(point -> {
            assertThat(point.repetitions()).isEqualTo(3);
            assertThat(point.high() - point.y()).isCloseTo(.004, within(2e-6));
            assertThat(point.y() - point.low()).isCloseTo(.004, within(2e-6));
        });
        assertThat(seeded.notes()).anyMatch(note -> note.startsWith("Points are medians of up to 3"));
    }

    @Test
    void missRatioLeavesOutWhatALogAxisCannotShow() throws Exception {
        FakeResults results = FakeResults.hits();
        FigureData figure = figure(results, "miss-ratio-by-rows");
        Series bound = series(figure, "Belady (with bypass), per layer");
        assertThat(bound.points()).hasSize(27);
        assertThat(bound.points().get(0).y()).isCloseTo(70 * Math.exp(-4 / 6.5), within(1e-4));
        assertThat(figure.notes()).contains("Not on the log axis: 1 of 196 rows without a single miss.");
    }

    @Test
    void missRatioComesFromTheCountsWhereTheyAreThere() throws Exception {
        FakeResults results = FakeResults.hits();
        for (String rows : List.of("8", "9")) {
            results.with(Map.of(
                    "policy",
                    "evict.other",
                    "scope",
                    "layer",
                    "window",
                    "warm",
                    "rows_per_layer",
                    rows,
                    "hit_ratio",
                    "0.999999",
                    "selections",
                    "3000000",
                    "misses",
                    "1"));
        }
        FigureData figure = figure(results, "miss-ratio-by-rows");
        Point point = figure.series().get(figure.series().size() - 1).points().get(0);
        assertThat(point.y()).isCloseTo(1 / 30000.0, within(1e-12));
    }

    @Test
    void marksTheRowsTheFileMarks() throws Exception {
        String csv = FakeResults.hits()
                .csv()
                .replace("experts,note\n", "experts,marked\n")
                .replace(",32,\n", ",32,true\n");
        Path file = Files.writeString(dir.resolve("results.csv"), csv.replaceAll("(rows=(?!8\"|12\").*),true", "$1,"));
        assertThat(Figures.of(ResultsTable.read(file)))
                .allSatisfy(figure -> assertThat(figure.verticals())
                        .containsExactly(new FigureData.Hairline(8, "N = 8"), new FigureData.Hairline(12, "N = 12")));
    }

    @Test
    void rowsThatAreNotOkAreLeftOutAndCounted() throws Exception {
        FakeResults results = FakeResults.speeds();
        for (String status : List.of("failed", "failed", "skipped", "refused")) {
            results.with(Map.of(
                    "status",
                    status,
                    "policy",
                    "evict.lru",
                    "graph_mode",
                    "none",
                    "rows_per_layer",
                    "500",
                    "decode_tok_per_s",
                    "1"));
        }
        for (FigureData figure : Figures.of(results.table(dir))) {
            assertThat(figure.notes()).contains("Left out: 4 of 213 rows (2 failed, 1 refused, 1 skipped).");
            assertThat(figure.series()).flatExtracting(Series::points).noneMatch(point -> point.x() == 500);
        }
    }

    @Test
    void policiesTakeTheColoursWhereEachRanInOneGraphMode() throws Exception {
        FakeResults results = new FakeResults();
        for (String policy : List.of("evict.lru", "evict.lfu(0.9)")) {
            for (int n : new int[] {10, 20}) {
                results.with(Map.of(
                        "policy",
                        policy,
                        "graph_mode",
                        "full",
                        "rows_per_layer",
                        Integer.toString(n),
                        "decode_tok_per_s",
                        Integer.toString(n + policy.length())));
            }
        }
        FigureData figure = figure(results, "decode-speed-by-rows");
        assertThat(figure.series()).extracting(Series::label).containsExactly("LRU", "evict.lfu(0.9)");
        assertThat(figure.series().get(0).points()).noneMatch(Point::hollow);
    }

    @Test
    void anExperimentWithoutRowsPerLayerGetsTheGenericFigure() throws Exception {
        FakeResults results = new FakeResults();
        for (String engine : List.of("resident", "pool", "uva")) {
            results.with(Map.of("engine", engine, "graph_mode", "none", "decode_tok_per_s", "1" + engine.length()));
            results.with(Map.of("engine", engine, "graph_mode", "full", "decode_tok_per_s", "2" + engine.length()));
            results.with(Map.of("engine", engine, "graph_mode", "full", "decode_tok_per_s", "99", "repetition", "2"));
            results.with(Map.of("engine", engine, "graph_mode", "full", "decode_tok_per_s", "1", "repetition", "3"));
        }
        List<FigureData> figures = Figures.of(results.table(dir));
        assertThat(figures).hasSize(1);
        FigureData figure = figures.get(0);
        assertThat(figure.name()).isEqualTo("decode-tok-per-s-by-graph-mode");
        assertThat(figure.x().categories()).containsExactly("none", "full");
        assertThat(figure.series())
                .extracting(Series::label)
                .containsExactly("engine resident", "engine pool", "engine uva");
        assertThat(figure.series().get(2).points()).extracting(Point::y).containsExactly(13.0, 23.0);
        assertThat(figure.notes()).anyMatch(note -> note.startsWith("Points are medians of up to 3"));
        assertThat(figure.notes()).noneMatch(note -> note.contains("reported"));
    }

    @Test
    void theGenericFigureFindsItsAxisInCellIds() throws Exception {
        FakeResults results = new FakeResults();
        for (String policy : List.of("evict.lru", "evict.lfu(0.9,2)")) {
            for (int limit : new int[] {4, 1, 2}) {
                results.with(Map.of(
                        "cell",
                        "policy=" + policy + ",control.promoteLimit=" + limit,
                        "policy",
                        policy,
                        "rows_per_layer",
                        "64",
                        "hit_ratio",
                        "0." + (limit + policy.length())));
            }
        }
        FigureData figure = Figures.of(results.table(dir)).get(0);
        assertThat(figure.name()).isEqualTo("hit-ratio-by-control-promoteLimit");
        assertThat(figure.series()).extracting(Series::label).containsExactly("LRU", "evict.lfu(0.9,2)");
        assertThat(figure.series().get(0).points()).extracting(Point::x).containsExactly(1.0, 2.0, 4.0);
        assertThat(figure.series().get(0).points()).extracting(Point::y).containsExactly(.10, .11, .13);
    }

    @Test
    void aFileWithoutOkRowsHasNoFigures() throws Exception {
        FakeResults results = new FakeResults().with(Map.of("status", "skipped", "reason", "no trace file"));
        assertThat(Figures.of(results.table(dir))).isEmpty();
    }
}
