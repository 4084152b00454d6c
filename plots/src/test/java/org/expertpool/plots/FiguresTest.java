package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

class FiguresTest {
    @TempDir
    private Path dir;

    @Test
    void writesWholeImagesAndNothingElse() throws Exception {
        FakeResults.crowdedSpeeds().write(dir);
        Path out = dir.resolve("figures");
        List<Path> files = Figures.drawAll(dir, out);
        assertThat(files)
                .extracting(file -> out.relativize(file).toString())
                .containsExactly(
                        "speed-against-capacity.png",
                        "speed-against-capacity.svg",
                        "decode-speed-by-rows.png",
                        "decode-speed-by-rows.svg",
                        "hit-ratio-by-rows.png",
                        "hit-ratio-by-rows.svg",
                        "miss-ratio-by-rows.png",
                        "miss-ratio-by-rows.svg");
        try (Stream<Path> there = Files.list(out)) {
            assertThat(there).containsExactlyInAnyOrderElementsOf(files);
        }
        for (Path file : files) {
            if (file.toString().endsWith(".png")) {
                assertThat(ImageIO.read(file.toFile()).getWidth()).isEqualTo(2400);
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as("300 pixels to the inch are 11,811 to the metre")
                        .contains("pHYs\0\0.#\0\0.#\1");
            } else {
                assertThat(svg(Files.readAllBytes(file)).getAttribute("viewBox"))
                        .startsWith("0 0 960 ");
            }
        }
    }

    private static Element svg(byte[] bytes) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        return factory.newDocumentBuilder()
                .parse(new InputSource(new ByteArrayInputStream(bytes)))
                .getDocumentElement();
    }

    @Test
    void drawsTheSameBytesAgain() throws Exception {
        FakeResults.hits().write(dir);
        List<Path> first = Figures.drawAll(dir, dir.resolve("a"));
        for (Path again : Figures.drawAll(dir, dir.resolve("b"))) {
            Path before = dir.resolve("a").resolve(again.getFileName());
            assertThat(first).contains(before);
            assertThat(again).hasSameBinaryContentAs(before);
        }
    }

    @Test
    void aBadFileLeavesEarlierFiguresAlone() throws Exception {
        Path out = Files.createDirectories(dir.resolve("figures"));
        Path earlier = Files.writeString(out.resolve("decode-speed-by-rows.png"), "earlier");
        Files.writeString(dir.resolve("results.csv"), FakeResults.speeds().csv() + "1,cut");
        assertThatThrownBy(() -> Figures.drawAll(dir, out))
                .isInstanceOf(BadResultsException.class)
                .hasMessageContaining("2 fields");
        assertThat(earlier).hasContent("earlier");
        try (Stream<Path> there = Files.list(out)) {
            assertThat(there).containsExactly(earlier);
        }
    }

    @Test
    void saysWhichFileCannotBeWritten() throws Exception {
        FakeResults.hits().write(dir);
        Path notAFolder = Files.writeString(dir.resolve("figures"), "a file");
        assertThatThrownBy(() -> Figures.drawAll(dir, notAFolder))
                .isInstanceOf(FigureException.class)
                .hasMessageContaining(notAFolder.toString());
    }

    @Test
    void anAllSkippedRunDrawsNothing() throws Exception {
        new FakeResults().with(Map.of("status", "skipped")).write(dir);
        assertThat(Figures.drawAll(dir, dir.resolve("figures"))).isEmpty();
        assertThat(dir.resolve("figures")).doesNotExist();
    }

    @Test
    void drawsTheExtremes() throws Exception {
        String longName = "evict.lru+promote." + "very-long-parameter-name".repeat(12);
        FakeResults results = new FakeResults();
        for (int n : new int[] {1, 2}) {
            results.with(Map.of(
                    "policy",
                    longName,
                    "graph_mode",
                    "none",
                    "rows_per_layer",
                    Integer.toString(n),
                    "decode_tok_per_s",
                    "0",
                    "context_capacity_tokens",
                    Integer.toString(n),
                    "hit_ratio",
                    "0"));
        }
        results.with(Map.of("policy", "evict.lru", "rows_per_layer", "1", "decode_tok_per_s", "1e6"));
        results.write(dir);
        assertThat(Figures.drawAll(dir, dir.resolve("figures"))).hasSize(6);

        results = new FakeResults();
        for (int n : new int[] {5, 6}) {
            results.with(Map.of("policy", "evict.lru", "rows_per_layer", Integer.toString(n), "hit_ratio", "1"));
        }
        results.write(dir);
        assertThat(Figures.drawAll(dir, dir.resolve("all-hits"))).hasSize(2);
    }

    @Test
    void hollowMarkersAreWhiteInside() {
        for (MarkerShape shape : MarkerShape.values()) {
            SeriesStyle style = new SeriesStyle(Color.BLUE, shape, SeriesStyle.Dash.SOLID);
            assertThat(centre(style, true)).as("%s hollow", shape).isEqualTo(Color.WHITE.getRGB());
            assertThat(centre(style, false)).as("%s filled", shape).isEqualTo(Color.BLUE.getRGB());
        }
    }

    private static int centre(SeriesStyle style, boolean hollow) {
        BufferedImage image = new BufferedImage(200, 200, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = image.createGraphics();
        g.setColor(Color.GRAY);
        g.fillRect(0, 0, 200, 200);
        g.scale(10, 10);
        ChartPainter.paintMarker(g, style, 10, 10, hollow);
        g.dispose();
        return image.getRGB(100, 100);
    }
}
