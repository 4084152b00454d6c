package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrefillByChunkTest {
    private static final String HEADER = "schema,experiment,cell,repetition,status,basis,engine,backend,device,model,"
            + "trace,rows_per_layer,policy,graph_mode,context,seed,prefill_tok_per_s,input_tokens,chunk_tokens\n";

    @TempDir
    private Path dir;

    private List<FigureData> figures(String lines) throws IOException {
        return Figures.of(ResultsTable.read(Files.writeString(dir.resolve("results.csv"), HEADER + lines)));
    }

    private static String line(String engine, String policy, int input, int chunk, int speed) {
        return "1,e,\"engine=%s,input_tokens=%d,chunk_tokens=%d\",1,ok,measured,%s,cuda,d,m,t,%s,%s,,,1,%d,%d,%d\n"
                .formatted(engine, input, chunk, engine, policy.isEmpty() ? "" : "208", policy, speed, input, chunk);
    }

    /** The speeds of both inputs at 512 tokens make one point: 910 and 930 have the median 920. */
    @Test
    void aCurveForEachWayWhateverTheLengthOfTheInput() throws IOException {
        FigureData figure = figures(line("resident", "", 4096, 128, 11_000)
                        + line("resident", "", 8192, 512, 18_000)
                        + line("pool", "evict.lru", 4096, 128, 500)
                        + line("pool", "evict.lru", 4096, 512, 910)
                        + line("pool", "evict.lru", 8192, 512, 930))
                .get(0);
        assertThat(figure.name()).isEqualTo("prefill-by-chunk");
        assertThat(figure.series()).hasSize(2);
        assertThat(figure.series().get(0).points().stream().map(Point::x)).containsExactly(128.0, 512.0);
        assertThat(figure.series().get(0).points().stream().map(Point::y)).containsExactly(11_000.0, 18_000.0);
        assertThat(figure.series().get(1).points().stream().map(Point::y)).containsExactly(500.0, 920.0);
        assertThat(figure.notes().get(0)).isEqualTo("Inputs of 4,096, 8,192 tokens.");
    }

    @Test
    void oneSizeMakesNoCurve() throws IOException {
        assertThat(figures(line("pool", "evict.lru", 4096, 512, 910) + line("pool", "evict.lru", 8192, 512, 930)))
                .noneMatch(figure -> figure.name().equals("prefill-by-chunk"));
    }
}
