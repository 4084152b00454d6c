package org.expertpool.harness.run;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.plots.FigureException;
import org.expertpool.plots.Figures;

/** What a reader gets of a run: figures, and a README with question, expectation, checks and table. */
final class RunReport {
    private static final int MOST_ROWS_WITHOUT_MARKS = 60;

    private final Definition definition;
    private final RunOutcome outcome;

    RunReport(Definition definition, RunOutcome outcome) {
        this.definition = definition;
        this.outcome = outcome;
    }

    /** Draws the figures, then writes the README that shows them; where none can be drawn, it does without. */
    void write(PrintStream notices) throws IOException {
        Path directory = outcome.directory();
        List<Path> figures = List.of();
        if (outcome.count("ok") == 0) {
            notices.println(directory + ": no figures, since no cell has a result");
        } else {
            try {
                figures = Figures.drawAll(directory, directory.resolve("figures"));
            } catch (FigureException noFonts) {
                // The rows are what a run is for: they are kept, and 'plot' draws from them later.
                notices.println("no figures: " + noFonts.getMessage());
            } catch (NoClassDefFoundError noGraphics) {
                notices.println("no figures: this Java runtime has no " + noGraphics.getMessage()
                        + "; 'plot' draws them where one has");
            }
        }
        writeReadme(figures);
    }

    /** Writes the README that shows these figures. */
    void writeReadme(List<Path> figures) throws IOException {
        AtomicFile.write(
                outcome.directory().resolve("README.md"), readme(figures).getBytes(StandardCharsets.UTF_8));
    }

    /** Counts, checks, the table of the marked rows, and where the results lie. */
    String summary() {
        return Stream.of(
                        counts(),
                        reasons(),
                        checks(),
                        warnings(),
                        table(),
                        repeated(),
                        "Results: " + outcome.directory() + "\n")
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining("\n"));
    }

    private String readme(List<Path> figures) {
        List<String> parts = new ArrayList<>();
        parts.add("# " + definition.name() + "\n");
        parts.add("Generated from `results.csv`; basis, units and columns: `experiments/SCHEMA.md`.\n");
        parts.add("Again: `./poolbench run definition.toml --backend %s`, the definition that is kept here%s.\n"
                .formatted(backend(), definition.freshProcesses() ? ", with `--host-rows DIR` to share rows" : ""));
        parts.add("**Question.** " + definition.question() + "\n");
        parts.add("**Expectation, written before the run.** " + definition.expectation() + "\n");
        parts.add("## Result\n");
        parts.add(counts() + reasons());
        if (!checks().isEmpty()) {
            parts.add(checks());
        }
        if (!warnings().isEmpty()) {
            parts.add(warnings());
        }
        parts.add(table());
        if (!repeated().isEmpty()) {
            parts.add(repeated());
        }
        figures.stream()
                .map(figure -> figure.getFileName().toString())
                .filter(name -> name.endsWith(".png"))
                .map(name -> "![" + name.replace(".png", "") + "](figures/" + name + ")\n")
                .forEach(parts::add);
        return String.join("\n", parts);
    }

    /** What the measured cells ran on, beside which a device's run may model others. */
    private String backend() {
        List<String> backends = outcome.rows().stream()
                .filter(row -> !isReported(row))
                .map(row -> row.text("backend"))
                .filter(backend -> !backend.isEmpty())
                .distinct()
                .toList();
        return backends.stream()
                .filter(backend -> !backend.equals("model"))
                .findFirst()
                .orElse("model");
    }

    private String repeated() {
        return RepeatedCells.table(outcome.rows());
    }

    private String counts() {
        long reported = outcome.rows().stream().filter(RunReport::isReported).count();
        String counts = Stream.of("ok", "failed", "refused", "skipped")
                .filter(status -> outcome.count(status) > 0 || status.equals("ok"))
                .map(status -> status + " " + (outcome.count(status) - (status.equals("ok") ? reported : 0)))
                .collect(Collectors.joining(", "));
        return "Rows: " + counts + (reported > 0 ? "; reported elsewhere " + reported : "") + ".\n";
    }

    private String reasons() {
        return outcome.rows().stream()
                .filter(row -> !row.isOk())
                .collect(Collectors.groupingBy(
                        row -> row.text("status") + ": " + row.text("reason"),
                        LinkedHashMap::new,
                        Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> "- " + entry.getValue() + " " + entry.getKey() + "\n")
                .collect(Collectors.joining());
    }

    private String checks() {
        return outcome.checks().stream()
                .map(check -> "- Check: " + check.line() + "\n")
                .collect(Collectors.joining());
    }

    private String warnings() {
        return RunWarnings.about(definition, outcome.rows()).stream()
                .map(warning -> "- Warning: " + warning + "\n")
                .collect(Collectors.joining());
    }

    private String table() {
        List<ResultRow> own =
                outcome.rows().stream().filter(row -> !isReported(row)).toList();
        List<ResultRow> marked = own.stream()
                .filter(row -> definition.markedRows().stream()
                        .anyMatch(rows -> row.text("rows_per_layer").equals(Integer.toString(rows))))
                .toList();
        if (!marked.isEmpty()) {
            return SummaryTable.of(marked);
        }
        return SummaryTable.of(own.subList(0, Math.min(own.size(), MOST_ROWS_WITHOUT_MARKS)));
    }

    private static boolean isReported(ResultRow row) {
        return row.text("basis").equals("reported");
    }
}
