package org.expertpool.harness.verify;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
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
        add(
                backend,
                driverKind,
                new CheckpointVerification.Finding(
                        name,
                        outcome.steps(),
                        outcome.promoted(),
                        outcome.staged(),
                        seconds,
                        outcome.verdict(),
                        outcome.difference().isEmpty()));
    }

    /** Adds a finding about a checkpoint. */
    public void add(String backend, String driverKind, CheckpointVerification.Finding finding) {
        allEqual &= finding.holds();
        rows.add(List.of(
                backend,
                driverKind,
                finding.name(),
                Long.toString(finding.calls()),
                Long.toString(finding.promoted()),
                Long.toString(finding.staged()),
                String.format(Locale.ROOT, "%.1f", finding.seconds()),
                finding.result()));
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
