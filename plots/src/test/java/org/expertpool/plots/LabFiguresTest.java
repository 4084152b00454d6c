package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.awt.Font;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Figures of policies side by side and of cells taken apart, against numbers worked out here. */
class LabFiguresTest {
    private static final String HEADER =
            "schema,experiment,cell,repetition,status,basis,engine,backend,device,model,trace,"
                    + "rows_per_layer,policy,graph_mode,context,seed,window,scope,hit_ratio,selections,misses,marked,"
                    + "compulsory_misses,capacity_misses,admission_misses,victim_misses,inserts_per_100\n";

    /** Policy, misses, and the parts: of 1,000 selections. */
    private static final String[] POLICIES = {
        "evict.lru 200 10 90 20 80 20",
        "evict.fifo 240 10 90 20 120 24",
        "evict.arc 180 10 90 20 60 18",
        "evict.lru+promote.hotter(64;0) 110 10 90 20 -10 2",
        "bound.belady 100 10 90 20 -20 9",
        "static.profile 300 10 90 20 180 0",
    };

    @TempDir
    private Path dir;

    private ResultsTable table(int rows) throws IOException {
        StringBuilder csv = new StringBuilder(HEADER);
        for (String line : POLICIES) {
            String[] of = line.replace(';', ',').split(" ");
            csv.append(
                            "1,lab,\"policy=%s,rows=%d\",1,ok,modelled,pool,model,,m,t,%d,\"%s\",,,,warm,layer,%s,1000,%s,true"
                                    .formatted(
                                            of[0], rows, rows, of[0], (1000 - Integer.parseInt(of[1])) / 1000.0, of[1]))
                    .append(",%s,%s,%s,%s,%s\n".formatted(of[2], of[3], of[4], of[5], of[6]));
        }
        return ResultsTable.read(Files.writeString(dir.resolve("results.csv"), csv));
    }

    private static FigureData figure(ResultsTable table, String name) {
        return Figures.of(table).stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void barsEndWhereThePartsAddUpAndTheFewestMissesAreOnTop() throws IOException {
        FigureData figure = figure(table(16), "misses-by-policy-16");
        assertThat(figure.y().names())
                .containsExactly(
                        "static profile",
                        "evict.fifo",
                        "LRU",
                        "evict.arc",
                        "evict.lru+promote.hotter(64,0)",
                        "Belady (with bypass)");
        assertThat(figure.series().stream().map(Series::label))
                .containsExactly("compulsory", "capacity", "admission", "victim");
        // Per cent of 1,000 selections; the last category stands at the top, the highest y.
        double[][] ends = {
            {1, 10, 12, 30}, {1, 10, 12, 24}, {1, 10, 12, 20}, {1, 10, 12, 18}, {1, 10, 11, 11}, {1, 10, 10, 10}
        };
        for (int part = 0; part < 4; part++) {
            List<Point> points = figure.series().get(part).points();
            for (int i = 0; i < ends.length; i++) {
                assertThat(points.get(i).x()).isCloseTo(ends[i][part], within(1e-9));
                assertThat(points.get(i).y()).isEqualTo(i);
            }
        }
    }

    @Test
    void hitsStandAgainstInsertsWhereAnythingIsInserted() throws IOException {
        FigureData figure = figure(table(16), "hits-against-inserts");
        assertThat(figure.series()).hasSize(5);
        assertThat(figure.notes()).anyMatch(note -> note.startsWith("Not on the log axis: 1 of 6 rows"));
        Series gated = figure.series().stream()
                .filter(series -> series.label().contains("hotter"))
                .findFirst()
                .orElseThrow();
        assertThat(gated.points()).singleElement().satisfies(point -> {
            assertThat(point.x()).isEqualTo(2);
            assertThat(point.y()).isEqualTo(.89);
        });
    }

    @Test
    void eachWindowHasAFigureOfItsOwnAfterASwitch() throws IOException {
        List<ResultsRow> lines = List.of(
                afterStart("warm", 0, .5),
                afterStart("warm", 1, .75),
                afterStart("cold", 0, 0),
                afterStart("cold", 1, .25));
        List<FigureData> figures = DetailFigure.AFTER_START.of(table(16), lines);
        assertThat(figures.stream().map(FigureData::name))
                .containsExactly("hit-ratio-after-switch-warm", "hit-ratio-after-switch-cold");
        assertThat(figures.get(1).series())
                .singleElement()
                .satisfies(series -> assertThat(series.points()).containsExactly(Point.of(1, 0), Point.of(2, .25)));
        assertThat(DetailFigure.AFTER_START.of(table(16), List.of())).isEmpty();
    }

    private static ResultsRow afterStart(String window, int position, double hitRatio) {
        return new ResultsRow(
                "after_start.csv",
                2,
                Map.of(
                        "policy",
                        "evict.lru",
                        "rows_per_layer",
                        "16",
                        "window",
                        window,
                        "from_position",
                        Integer.toString(position),
                        "hit_ratio",
                        Double.toString(hitRatio)));
    }

    @Test
    void cellsTakenApartTakeTheirNamesFromTheResults() throws IOException {
        ResultsTable table = table(16);
        Path details = Files.createDirectories(dir.resolve("details"));
        String cells = "\"policy=evict.lru,rows=16\"";
        Files.writeString(
                details.resolve("after_start.csv"),
                "cell,from_position,forwards,selections,hits,hit_ratio\n%s,0,2,8,4,0.5\n%s,1,2,8,6,0.75\n"
                        .formatted(cells, cells));
        Files.writeString(
                details.resolve("layers.csv"),
                "cell,layer,selections,hits,misses,promoted,hit_ratio\n%s,0,8,4,4,4,0.5\n%s,1,8,6,2,2,0.75\n"
                        .formatted(cells, cells));
        List<FigureData> figures = Figures.details(List.of(dir), table);
        assertThat(figures.stream().map(FigureData::name)).containsExactly("hit-ratio-after-switch", "misses-by-layer");
        assertThat(figures.get(0).title()).endsWith(", N = 16");
        assertThat(figures.get(0).series()).singleElement().satisfies(series -> {
            assertThat(series.label()).isEqualTo("LRU");
            assertThat(series.points()).containsExactly(Point.of(1, .5), Point.of(2, .75));
        });
        assertThat(figures.get(1).series())
                .singleElement()
                .satisfies(series -> assertThat(series.points()).containsExactly(Point.of(50, 0), Point.of(25, 1)));
        List<Path> files = Figures.drawAll(dir, dir.resolve("figures"));
        assertThat(files.stream().map(file -> file.getFileName().toString()))
                .contains("misses-by-policy-16.png", "hit-ratio-after-switch.svg", "misses-by-layer.png");
    }

    @Test
    void linesThatBelongToNoCellAreRefused() throws IOException {
        ResultsTable table = table(16);
        Path file = Files.createDirectories(dir.resolve("details")).resolve("layers.csv");
        Files.writeString(file, "cell,layer,hit_ratio\nrows=17,0,0.5\n");
        assertThatThrownBy(() -> Figures.details(List.of(dir), table))
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining("layers.csv line 2, column cell: 'rows=17'");
        Files.writeString(file, "cell,layer,hit_ratio\nrows=17,0\n");
        assertThatThrownBy(() -> Figures.details(List.of(dir), table))
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining("line 2: 2 fields, expected 3");
    }

    @Test
    void aPaletteKeepsCommonColoursAndMovesRareOnesToTheNearest() {
        BufferedImage image = new BufferedImage(300, 2, BufferedImage.TYPE_INT_RGB);
        IntStream.range(0, 300).forEach(x -> {
            image.setRGB(x, 0, x < 256 ? x : 255 - (x - 256)); // 256 blues, some twice
            image.setRGB(x, 1, x < 256 ? x : 0x010000 + 7); // one that is rarer than none of them
        });
        BufferedImage reduced = Palette.reduce(image);
        int exact = (int) IntStream.range(0, 300)
                .filter(x -> reduced.getRGB(x, 0) == image.getRGB(x, 0))
                .count();
        assertThat(exact).isBetween(298, 300); // at most the one colour that the 257th displaced
        assertThat(reduced.getRGB(299, 1) & 0xFFFFFF).isEqualTo(0x010007);
    }

    @Test
    void barsOfALayersTimeEndWhereItsPartsAddUp() throws IOException {
        Files.writeString(
                dir.resolve("results.csv"),
                HEADER.replace("\n", ",decode_tok_per_s,note\n")
                        + "1,e,all,1,ok,measured,resident,cuda,d,m,t,,,full-decode,,,warm,,,,,,,,,,,900,experts alone\n"
                        + "1,e,some,1,ok,measured,pool,cuda,d,m,t,258,evict.lru,none,,,warm,,,,,,,,,,,200,9 dense bytes\n");
        Files.createDirectories(dir.resolve("details"));
        Files.writeString(dir.resolve("details/breakdown.csv"), """
                cell,misses_a_layer,measured_us,dense_us,hits_us,planner_us,copies_us,launches_us,other_us,floor_us
                all,,20,0,20,0,0,0,0,20
                some,0.5,90,30,20,3,25,,-2,70
                """);
        ResultsTable table = ResultsTable.read(dir.resolve("results.csv"));
        FigureData figure = Figures.details(List.of(dir), table).get(0);
        assertThat(figure.name()).isEqualTo("time-of-a-layer");
        assertThat(figure.y().names()).containsExactly("N = 258, dense reads, no graph", "all resident");
        assertThat(figure.series().stream().map(Series::label))
                .containsExactly("dense", "hits", "planner", "copies", "launches", "other", "floor");
        assertThat(figure.series().stream().map(one -> one.points().get(0).x()))
                .containsExactly(30.0, 50.0, 53.0, 78.0, 78.0, 76.0, 70.0);
        assertThat(figure.series().get(5).points().get(1).x()).isEqualTo(20);

        // The longest bar's name has room beside it, where it takes less than half of the plot.
        double name = Text.width("N = 258, dense reads, no graph", Text.font(Font.PLAIN, 10.5f));
        double wide = AxisRange.ofX(figure, 4 * name).max();
        assertThat(4 * name * 78 / wide + name).isBetween(3.8 * name, 4 * name);
        assertThat(AxisRange.ofX(figure, 1.5 * name).max()).isBetween(78.0, 90.0);
    }

    @Test
    void timesStandOverMissesBesideThoseOfImposedOnes() throws IOException {
        String head = HEADER.replace("\n", ",decode_tok_per_s,note,source\n");
        String own =
                "1,e,rows=%1$d,1,ok,measured,pool,cuda,d,m,t,%1$d,evict.lru,full-decode,,,warm,,%2$s,,,,,,,,,%3$s,%4$s,\n";
        String peer = "1,e,reported=p%1$s,1,ok,reported,peer,,d,m,,,,,,,,,%1$s,,,,,,,,,%2$s,,run here\n";
        String csv = head
                + own.formatted(258, "0.96", "500", "experts alone")
                + own.formatted(208, "0.92", "250", "experts alone")
                + own.formatted(300, "0.99", "100", "\"experts, and 9 dense bytes\"")
                + peer.formatted("1", "400")
                + peer.formatted("0.9", "200")
                + peer.formatted("0.5", "50");
        FigureData figure =
                figure(ResultsTable.read(Files.writeString(dir.resolve("results.csv"), csv)), "time-by-misses");
        assertThat(figure.series()).hasSize(2);
        List<Point> pool = figure.series().get(0).points();
        assertThat(pool.stream().map(Point::x).map(x -> Math.round(1e6 * x) / 1e6))
                .containsExactly(4.0, 8.0);
        assertThat(pool.stream().map(Point::y)).containsExactly(2.0, 4.0);
        List<Point> peers = figure.series().get(1).points(); // up to the first beyond the pool's
        assertThat(peers.stream().map(Point::y)).containsExactly(2.5, 5.0);
        assertThat(figure.horizontals()).isEmpty();

        csv = csv.replace("rows=258,1", "\"rows=258,rest=none\",1").replace("rows=208,1", "\"rows=208,rest=none\",1");
        for (String n : List.of("258", "208")) {
            String between = csv.lines()
                    .filter(line -> line.contains("rows=" + n))
                    .findFirst()
                    .orElseThrow();
            csv += between.replace("rest=none", "rest=routed-ahead") + "\n";
        }
        figure = figure(ResultsTable.read(Files.writeString(dir.resolve("results.csv"), csv)), "time-by-misses");
        assertThat(figure.series().stream().map(Series::label))
                .startsWith(
                        "graph mode full-decode, experts alone", "graph mode full-decode, experts alone, routed ahead")
                .hasSize(3);
    }
}
