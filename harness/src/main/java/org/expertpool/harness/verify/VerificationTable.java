package org.expertpool.harness.verify;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.expertpool.harness.record.CsvJson;
import org.expertpool.harness.record.MarkdownTable;

/** What {@code verify} found, a row for each case; a cell that says nothing of a case is empty. */
public final class VerificationTable {
    private static final List<String> COLUMNS =
            List.of("backend", "driver_kind", "case", "steps", "promoted", "staged", "seconds", "result");
    private static final CSVFormat FORMAT =
            CSVFormat.RFC4180.builder().setRecordSeparator('\n').get();

    private final List<List<String>> rows = new ArrayList<>();
    private boolean allEqual = true;

    /** Adds a comparison of planners; {@code driverKind} is empty off the device. */
    public void add(String backend, String driverKind, String name, Verification.Outcome outcome, double seconds) {
        allEqual &= outcome.difference().isEmpty();
        rows.add(List.of(
                backend,
                driverKind,
                name,
                Long.toString(outcome.steps()),
                Long.toString(outcome.promoted()),
                Long.toString(outcome.staged()),
                seconds(seconds),
                outcome.verdict()));
    }

    /** Adds a finding about a checkpoint; the steps are layer calls, where there were some. */
    public void add(String backend, String driverKind, CheckpointVerification.Finding finding) {
        allEqual &= finding.holds();
        String calls = finding.calls() == 0 ? "" : Long.toString(finding.calls());
        rows.add(List.of(
                backend, driverKind, finding.name(), calls, "", "", seconds(finding.seconds()), finding.result()));
    }

    private static String seconds(double seconds) {
        return String.format(Locale.ROOT, "%.1f", seconds);
    }

    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /** Whether all is as it must be. */
    public boolean allEqual() {
        return allEqual;
    }

    public String markdown() {
        MarkdownTable table = new MarkdownTable(COLUMNS);
        rows.forEach(table::add);
        return table.toString();
    }

    /** The rows with {@code all_equal} before them. */
    public String json() throws IOException {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("all_equal", allEqual);
        document.set("cases", CsvJson.rows(csv()));
        return CsvJson.document(document);
    }

    public String csv() {
        StringBuilder text = new StringBuilder();
        try (CSVPrinter printer = new CSVPrinter(text, FORMAT)) {
            printer.printRecord(COLUMNS);
            printer.printRecords(rows);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // a string takes everything
        }
        return text.toString();
    }
}
