package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Figures of what only devices measure: long inputs, time along a run, and cells that no axis orders. */
class DeviceFiguresTest {
    private static final String HEADER = "schema,experiment,cell,repetition,status,basis,engine,backend,device,model,"
            + "trace,rows_per_layer,policy,graph_mode,context,seed,window,initial,forwards,partition_forwards,"
            + "decode_ms_per_token,decode_tok_per_s,hit_ratio,ttft_s,input_tokens,chunk_tokens,streams,ple,source\n";

    @TempDir
    private Path dir;

    private ResultsTable table(String... lines) throws IOException {
        return ResultsTable.read(Files.writeString(dir.resolve("results.csv"), HEADER + String.join("", lines)));
    }

    private static FigureData named(ResultsTable table, String name) {
        return Figures.of(table).stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** A row of a measured cell; {@code values} are those of the columns from the time on. */
    private static String row(String cell, String engine, String rows, String values) {
        boolean pool = engine.equals("pool");
        return "1,e,\"%s\",1,ok,measured,%s,cuda,d,m,t,%s,%s,full-decode,,1,warm,%s,60,%s,%s\n"
                .formatted(cell, engine, rows, pool ? "evict.lru" : "", pool ? "first-n" : "", pool ? "0" : "", values);
    }

    private static String prompt(String engine, String way, int input, int chunk, int seconds) {
        return row(
                "engine=%s,input_tokens=%d,chunk_tokens=%d%s".formatted(engine, input, chunk, way),
                engine,
                engine.equals("pool") ? "208" : "",
                ",,,%d,%d,%d,,,".formatted(seconds, input, chunk));
    }

    @Test
    void timeToFirstTokenHasACurveForEachWayAndWhatWasReportedBeside() throws IOException {
        ResultsTable table = table(
                prompt("resident", "", 4096, 512, 1),
                prompt("resident", "", 65_536, 512, 16),
                prompt("pool", ",partition=streamed,prefill_promote=0", 4096, 512, 5),
                prompt("pool", ",partition=streamed,prefill_promote=512", 4096, 512, 4),
                prompt("pool", ",partition=streamed,prefill_promote=512", 65_536, 512, 60),
                "1,e,r,1,ok,reported,pool,,o,m,,208,evict.lru,,262144,,,,,,,,,614.87,65536,,,,seed\n");
        FigureData figure = named(table, "time-to-first-token");
        assertThat(figure.title()).endsWith(", N = 208");
        assertThat(figure.series())
                .extracting(Series::label)
                .containsExactly(
                        "engine resident",
                        "engine pool, nothing kept",
                        "engine pool, up to 512 kept a layer",
                        "reported, seed, pool (LRU)");
        assertThat(figure.series().get(2).points()).containsExactly(Point.of(4096, 4), Point.of(65_536, 60));
        assertThat(figure.series().get(3).points())
                .extracting(Point::y, Point::label)
                .containsExactly(tuple(614.87, "615 s"));
    }

    /** Two shards that were never whole: what was reported stands once, and a cell of both is refused. */
    @Test
    void runsOfOneExperimentAreDrawnTogether() throws IOException {
        String reported = "1,e,reported=r,1,ok,reported,pool,,o,m,,208,evict.lru,,262144,,,,,,,,,615,65536,,,,seed\n";
        ResultsTable one = table(prompt("resident", "", 4096, 512, 1), reported);
        ResultsTable two = table(prompt("resident", "", 65_536, 512, 16), reported);
        FigureData figure = named(ResultsTable.joined(List.of(one, two)), "time-to-first-token");
        assertThat(figure.series()).hasSize(2);
        assertThat(figure.series().get(0).points()).containsExactly(Point.of(4096, 1), Point.of(65_536, 16));
        assertThat(figure.series().get(1).points()).hasSize(1);
        assertThatThrownBy(() -> ResultsTable.joined(List.of(one, two, one)))
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining("line 2, column cell: 'engine=resident,input_tokens=4096,chunk_tokens=512'")
                .hasMessageContaining("expected a cell of one run alone");
        ResultsTable other = table(prompt("resident", "", 8192, 512, 2).replace("1,e,", "1,f,"));
        assertThatThrownBy(() -> ResultsTable.joined(List.of(one, other)))
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining("column experiment: 'f', expected runs of one");
    }

    @Test
    void inputsInChunksOfSeveralSizesMakeNoCurveOverTheirLength() throws IOException {
        assertThat(Figures.of(table(prompt("pool", "", 4096, 512, 5), prompt("pool", "", 65_536, 8192, 7))))
                .noneMatch(figure -> figure.name().equals("time-to-first-token"));
    }

    @Test
    void aStretchOfARunStandsAtItsEnd() throws IOException {
        ResultsTable table = table(
                row("engine=resident", "resident", "", "1,1000,,,,,,,"),
                row("engine=pool,rows=258", "pool", "258", "2,500,.9,,,,,,"));
        Path details = Files.createDirectories(dir.resolve("details"));
        Files.writeString(details.resolve("decode_times.csv"), """
                cell,from_decode_forward,decode_forwards,decode_ms_per_forward
                engine=resident,0,50,1.25
                engine=resident,50,30,1.5
                "engine=pool,rows=258",0,50,4
                "engine=pool,rows=258",50,30,2
                """);
        FigureData figure = Figures.details(List.of(dir), table).get(0);
        assertThat(figure.name()).isEqualTo("decode-over-time");
        assertThat(figure.series()).extracting(Series::label).containsExactly("engine resident", "engine pool");
        assertThat(figure.series().get(0).points()).containsExactly(Point.of(50, 1.25), Point.of(80, 1.5));
        assertThat(figure.series().get(1).points()).containsExactly(Point.of(50, 4), Point.of(80, 2));
        assertThat(figure.notes())
                .as("everything resident has no start of its own")
                .contains("Windows: warm, start first-n.");
    }

    @Test
    void enginesSideBySideAreBarsAndRepetitionsTheirMedian() throws IOException {
        ResultsTable table = table(
                row("engine=resident", "resident", "", "1,1000,,,,,,,"),
                row("engine=pool,rows=208", "pool", "208", "3,333,.9,,,,,,"),
                row("engine=pool,rows=208", "pool", "208", "9,111,.9,,,,,,"),
                row("engine=pool,rows=208", "pool", "208", "4,250,.9,,,,,,"),
                row("engine=pool,rows=258", "pool", "258", "2,500,.9,,,,,,"),
                row("engine=uva,memory=26GiB", "uva", "", "17,59,,,,,,,"),
                row("engine=uva,memory=1MiB", "uva", "", "27,37,,,,,,,"));
        FigureData figure = named(table, "time-by-cell");
        assertThat(figure.y().names())
                .containsExactly(
                        "uva, 1MiB: 27 ms",
                        "uva, 26GiB: 17 ms",
                        "pool, N = 258: 2 ms",
                        "pool, N = 208: 4 ms",
                        "resident: 1 ms");
        assertThat(figure.series().get(0).points()).extracting(Point::x).containsExactly(27.0, 17.0, 2.0, 4.0, 1.0);
        assertThat(figure.notes()).contains("Bars are medians over repetitions.");
    }

    /** Rows of another experiment, which ran without a limit, say nothing of what fits. */
    @Test
    void onlyWhatHasAMemoryCanFailToFitIt() throws IOException {
        String header = HEADER.replace("\n", ",memory_bytes,fits,context_capacity_tokens\n");
        List<String> lines = List.of(
                row("rows=208,memory=48GiB", "pool", "208", "3,333,.9,,,,,,"),
                row("rows=258,memory=48GiB", "pool", "258", "2,500,.9,,,,,,"),
                row("rows=208", "pool", "208", "3,300,.9,,,,,,"),
                row("rows=258", "pool", "258", "2,400,.9,,,,,,"));
        List<String> ends = List.of("51539607552,true,300000", "51539607552,false,", ",,", ",,");
        StringBuilder csv = new StringBuilder(header);
        for (int i = 0; i < lines.size(); i++) {
            csv.append(lines.get(i).replace("\n", "," + ends.get(i) + "\n").replace("1,e,", "1,e" + i / 2 + ","));
        }
        FigureData figure =
                named(ResultsTable.read(Files.writeString(dir.resolve("results.csv"), csv)), "decode-speed-by-rows");
        assertThat(figure.series())
                .singleElement()
                .satisfies(series ->
                        assertThat(series.points()).extracting(Point::hollow).containsExactly(false, false));
    }

    @Test
    void waysWithoutAnOrderAreBarsEvenOfTwoEngines() throws IOException {
        ResultsTable table = table(
                row("engine=resident,ple=off", "resident", "", "1,1000,,,,,,off,"),
                row("engine=pool,ple=off,rest=none", "pool", "258", "2,500,.9,,,,,off,"),
                row("engine=pool,ple=eager,rest=none", "pool", "258", "3,333,.9,,,,,eager,"),
                row("engine=pool,ple=eager,rest=dense", "pool", "258", "4,250,.9,,,,,eager,"));
        assertThat(named(table, "time-by-cell").y().names())
                .containsExactly(
                        "pool, embedding rows eager, beside dense reads: 4 ms",
                        "pool, embedding rows eager, experts alone: 3 ms",
                        "pool, no embedding rows, experts alone: 2 ms",
                        "resident, no embedding rows: 1 ms");
    }

    @Test
    void whatAnAxisOrdersIsNoBar() throws IOException {
        assertThat(Figures.of(table(
                        row("engine=resident", "resident", "", "1,1000,,,,,,,"),
                        row("engine=pool,rows=208", "pool", "208", "3,333,.9,,,,,,"),
                        row("engine=pool,rows=258", "pool", "258", "2,500,.9,,,,,,"))))
                .extracting(FigureData::name)
                .contains("decode-speed-by-rows")
                .doesNotContain("time-by-cell");
    }

    @Test
    void sequencesSideBySideMakeOneCurveOfAnEngineHoweverWideItsPlannerIs() throws IOException {
        List<String> lines = Stream.of("resident", "pool")
                .flatMap(engine -> Stream.of(1, 2, 4)
                        .map(streams -> row(
                                "engine=%s,streams=%d%s"
                                        .formatted(
                                                engine,
                                                streams,
                                                engine.equals("pool") ? ",decode_tokens=" + streams : ""),
                                engine,
                                engine.equals("pool") ? "258" : "",
                                "1,%d,,,,,%d,,".formatted(1000 + streams, streams))))
                .toList();
        FigureData figure = Figures.of(table(lines.toArray(String[]::new))).get(0);
        assertThat(figure.title()).isEqualTo("Decode speed against sequences side by side");
        assertThat(figure.y().title()).isEqualTo("decode speed (tok/s)");
        assertThat(figure.series()).extracting(Series::label).containsExactly("engine resident", "engine pool");
        assertThat(figure.series().get(1).points())
                .containsExactly(Point.of(1, 1001), Point.of(2, 1002), Point.of(4, 1004));
    }

    /** Without its control's name the last curve would read as the default's. */
    @Test
    void everyControlIsNamed() throws IOException {
        Stream<String> lines = Stream.of("promoteLimit=0", "promoteLimit=1", "protectRecent=4")
                .flatMap(control -> Stream.of(208, 258)
                        .map(rows -> row(
                                "rows=%d,control.%s".formatted(rows, control),
                                "pool",
                                Integer.toString(rows),
                                "1,%d,.9,,,,,,".formatted(rows + control.hashCode() % 7))));
        assertThat(named(table(lines.toArray(String[]::new)), "decode-speed-by-rows")
                        .series())
                .extracting(Series::label)
                .containsExactly(
                        "graph mode full-decode, promoteLimit=0 (the default)",
                        "graph mode full-decode, promoteLimit=1",
                        "graph mode full-decode, protectRecent=4");
    }

    @Test
    void aSinglePointIsNoFigure() throws IOException {
        assertThat(Figures.of(table(row("engine=resident", "resident", "", "1,1000,,,,,,,"))))
                .isEmpty();
    }
}
