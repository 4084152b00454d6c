package org.expertpool.harness.analysis;

import java.util.List;

/**
 * What an analysis found.
 *
 * @param tables tidy tables, each for a CSV file
 * @param warnings what a reader should know before believing the figures, a sentence each
 */
public record AnalysisReport(List<Table> tables, List<String> warnings) {
    public AnalysisReport {
        tables = List.copyOf(tables);
        warnings = List.copyOf(warnings);
    }

    /** The table of that name. */
    public Table table(String name) {
        return tables.stream()
                .filter(table -> table.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no table " + name));
    }
}
