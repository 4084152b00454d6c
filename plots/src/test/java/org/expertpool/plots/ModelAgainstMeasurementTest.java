package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The errors of a model, by cells worked out by hand. */
class ModelAgainstMeasurementTest {
    private static final String HEADER =
            "schema,experiment,cell,repetition,status,basis,engine,backend,device,model,trace,"
                    + "rows_per_layer,policy,graph_mode,context,seed,decode_ms_per_token\n";

    @TempDir
    private Path dir;

    private static String row(String cell, String basis, String mode, double millis) {
        return "1,fit,\"" + cell + "\",1,ok," + basis + ",pool,cuda,H200,m,t,9,evict.lru," + mode + ",,1," + millis
                + "\n";
    }

    private List<FigureData> figures(String... rows) throws Exception {
        Path csv = Files.writeString(dir.resolve("results.csv"), HEADER + String.join("", rows));
        return Figures.of(ResultsTable.read(csv));
    }

    @Test
    void aMarkPerCellThatWasMeasuredAndModelled() throws Exception {
        FigureData figure = figures(
                        row("rows=9,graph_mode=none", "measured", "none", 4),
                        row("rows=9,graph_mode=none", "modelled", "none", 5),
                        row("rows=9,graph_mode=full", "measured", "full", 2),
                        row("rows=9,graph_mode=full", "modelled", "full", 1.9),
                        row("rows=10,graph_mode=full", "measured", "full", 3))
                .stream()
                .filter(one -> one.name().equals("model-against-measurement"))
                .findFirst()
                .orElseThrow();
        assertThat(figure.series())
                .hasSize(2)
                .allMatch(series -> !series.style().isLine());
        assertThat(figure.series().get(0).points()).singleElement().satisfies(point -> {
            assertThat(point.x()).isEqualTo(4);
            assertThat(point.y()).isCloseTo(25, within(1e-9));
        });
        assertThat(figure.series().get(1).points()).singleElement().satisfies(point -> {
            assertThat(point.x()).isEqualTo(2);
            assertThat(point.y()).isCloseTo(-5, within(1e-9));
        });
        assertThat(figure.horizontals().stream().map(FigureData.Hairline::value))
                .containsExactly(10.0, 0.0, -10.0);
    }

    @Test
    void nothingWhereOneBasisIsMissing() throws Exception {
        assertThat(figures(
                        row("rows=9,graph_mode=none", "measured", "none", 4),
                        row("rows=10,graph_mode=none", "modelled", "none", 5)))
                .noneMatch(one -> one.name().equals("model-against-measurement"));
    }
}
