package org.expertpool.plots;

import java.awt.AWTError;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Draws every figure that a results file has the rows for. */
public final class Figures {
    private static final List<Figure> ALL = List.of(
            new SpeedAgainstCapacity(),
            new DecodeSpeedByRows(),
            new TimeByMisses(),
            new ModelAgainstMeasurement(),
            new MissesByPolicy(0),
            new MissesByPolicy(1),
            new HitsAgainstInserts(),
            new PrefillByChunk(),
            new TimeToFirstToken(),
            new HitRatioByRows(),
            new MissRatioByRows());
    /** More curves than this can't be told apart, and are left to the bars and tables. */
    static final int MOST_CURVES = 24;

    private static final Figure OTHERWISE = new GenericFigure();

    private Figures() {}

    /**
     * Reads {@code results.csv} and the details in a run's directory and writes {@code <name>.png} and {@code <name>.svg} for each figure
     * it has rows for, the main figure first.
     *
     * @param resultsDir the directory of a run
     * @param outDir where the files go, made where missing
     * @return the files written; empty where no row of the file can be drawn, as when all cells were skipped
     * @throws BadResultsException where the file is missing or malformed; nothing is written then
     * @throws FigureException where drawing or writing fails
     */
    public static List<Path> drawAll(Path resultsDir, Path outDir) {
        return drawTogether(List.of(resultsDir), outDir);
    }

    /** The same of several runs of one experiment, such as shards that were never whole, as if they were one. */
    public static List<Path> drawTogether(List<Path> resultsDirs, Path outDir) {
        List<ResultsTable> tables = resultsDirs.stream()
                .map(directory -> ResultsTable.read(directory.resolve("results.csv")))
                .toList();
        ResultsTable table = ResultsTable.joined(tables);
        Map<Path, byte[]> files = new LinkedHashMap<>();
        List<FigureData> figures = new ArrayList<>(of(table));
        figures.addAll(details(resultsDirs, table));
        for (FigureData figure : figures) {
            files.putAll(render(figure, outDir));
        }
        files.forEach(Figures::write);
        return List.copyOf(files.keySet());
    }

    /** What there is to draw of a table. */
    static List<FigureData> of(ResultsTable table) {
        List<FigureData> drawn = new ArrayList<>();
        for (Figure figure : ALL) {
            figure.of(table).ifPresent(drawn::add);
        }
        drawn.addAll(TimeByCell.of(table));
        if (drawn.isEmpty()) {
            Optional<FigureData> other = OTHERWISE.of(table);
            other.ifPresent(drawn::add);
        }
        return drawn;
    }

    /** What there is to draw of the cells that a run took apart. */
    static List<FigureData> details(List<Path> resultsDirs, ResultsTable table) {
        List<FigureData> drawn = new ArrayList<>();
        Function<String, List<ResultsRow>> lines = name -> resultsDirs.stream()
                .flatMap(directory -> DetailRows.read(directory, name, table).stream())
                .toList();
        for (DetailFigure figure : List.of(DetailFigure.AFTER_START, DetailFigure.OVER_TIME)) {
            drawn.addAll(figure.of(table, lines.apply(figure.table())));
        }
        MissesByLayer.of(table, lines.apply(MissesByLayer.TABLE)).ifPresent(drawn::add);
        DecodeTimes.of(table, lines.apply(DecodeTimes.TABLE)).ifPresent(drawn::add);
        LayerParts.of(table, lines.apply(LayerParts.TABLE)).ifPresent(drawn::add);
        return drawn;
    }

    private static Map<Path, byte[]> render(FigureData figure, Path outDir) {
        if (System.getProperty("java.awt.headless") == null) {
            // AWT reads it once, when it starts; figures are files, so no display is wanted even where there is one.
            System.setProperty("java.awt.headless", "true");
        }
        Map<Path, byte[]> files = new LinkedHashMap<>();
        try {
            Page page = new Page(figure);
            files.put(outDir.resolve(figure.name() + ".png"), FigureFiles.png(page));
            files.put(outDir.resolve(figure.name() + ".svg"), FigureFiles.svg(page));
        } catch (IOException failed) {
            throw new FigureException("figure " + figure.name() + ": " + failed.getMessage(), failed);
        } catch (LinkageError | NullPointerException | InternalError | AWTError noFonts) {
            // How AWT fails where the machine has no fontconfig, no font, or a Java without its desktop libraries.
            throw new FigureException(
                    "figure " + figure.name() + ": no fonts to draw with (" + noFonts
                            + "); install fontconfig and a font such as DejaVu Sans, then redraw with 'poolbench plot'",
                    noFonts);
        }
        return files;
    }

    private static void write(Path file, byte[] bytes) {
        try {
            FigureFiles.write(file, bytes);
        } catch (IOException failed) {
            throw new FigureException(file + ": " + failed.getMessage(), failed);
        }
    }
}
