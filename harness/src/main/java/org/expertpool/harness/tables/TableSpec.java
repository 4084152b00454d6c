package org.expertpool.harness.tables;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.expertpool.pool.BadInputException;

/**
 * What a marked table shows: {@code SOURCE columns=a,b=heading where=c=1|2,d=3}.
 *
 * @param sources folders of recorded runs, one after the other, with a plus between them: {@code A+B}; or one CSV file with
 *     a header; relative to the page
 * @param columns results column to heading, in order; a name alone is its own heading
 * @param where results column to the values that are let in
 */
record TableSpec(List<String> sources, Map<String, String> columns, Map<String, Set<String>> where) {
    private static final String FORM = "SOURCE columns=NAME[=HEADING],... [where=NAME=VALUE|VALUE,...]";

    boolean isFile() {
        return sources.size() == 1 && sources.get(0).endsWith(".csv");
    }

    /** Reads what stands behind the marker; {@code place} names file and line. */
    static TableSpec parse(String place, String text) {
        List<String> words = new ArrayList<>(List.of(text.strip().split("\\s+")));
        List<String> sources = List.of(words.remove(0).split("\\+"));
        Map<String, String> columns = new LinkedHashMap<>();
        Map<String, Set<String>> where = new LinkedHashMap<>();
        for (String word : words) {
            if (word.startsWith("columns=")) {
                for (String column : word.substring("columns=".length()).split(",")) {
                    int heading = column.indexOf('=');
                    columns.put(
                            heading < 0 ? column : column.substring(0, heading),
                            heading < 0 ? column : column.substring(heading + 1).replace('_', ' '));
                }
            } else if (word.startsWith("where=")) {
                for (String condition : word.substring("where=".length()).split(",")) {
                    int values = condition.indexOf('=');
                    if (values < 1) {
                        throw new BadInputException(place + ": condition '" + condition + "', expected NAME=VALUE");
                    }
                    Set<String> allowed = new LinkedHashSet<>(
                            List.of(condition.substring(values + 1).split("\\|", -1)));
                    where.put(condition.substring(0, values), allowed);
                }
            } else {
                throw new BadInputException(place + ": '" + word + "', expected " + FORM);
            }
        }
        if (columns.isEmpty()) {
            throw new BadInputException(place + ": names no columns, expected " + FORM);
        }
        return new TableSpec(sources, columns, where);
    }
}
