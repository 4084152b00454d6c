package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import org.expertpool.harness.record.CsvJson;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.harness.record.ResultsSchema;

/** What a run prints as JSON: verdicts, warnings and all of its rows by column; a value that is not there is null. */
final class RunJson {
    private RunJson() {}

    /** A run that came to its end. */
    static String of(Definition definition, RunOutcome outcome) throws IOException {
        ObjectNode run = JsonNodeFactory.instance.objectNode();
        run.put("experiment", definition.name());
        run.put("directory", outcome.directory().toString());
        run.put("success", outcome.isSuccess());
        ArrayNode checks = run.putArray("checks");
        outcome.checks().forEach(check -> add(checks.addObject(), check));
        texts(run, "warnings", RunWarnings.about(definition, outcome.rows()));
        rows(run.putArray("rows"), outcome.rows());
        return CsvJson.document(run);
    }

    /** What a dry run would compute. */
    static String of(List<Cell> cells, int repetitions, long simulations, CellBackend backend) throws IOException {
        ObjectNode plan = JsonNodeFactory.instance.objectNode();
        plan.put("backend", backend.name());
        plan.put("repetitions", repetitions);
        plan.put("simulations", simulations);
        plan.put("estimated_s", backend.estimateSeconds(cells));
        texts(plan, "cells", cells.stream().map(Cell::id).toList());
        return CsvJson.document(plan);
    }

    private static void add(ObjectNode object, Check.Outcome check) {
        object.put("name", check.name());
        object.put("holds", check.holds());
        object.put("rows", check.rows());
        texts(object, "violations", check.violations());
        texts(object, "not_judged", check.notJudged());
    }

    private static void rows(ArrayNode array, List<ResultRow> rows) {
        List<String> columns = ResultsSchema.names().stream()
                .filter(column -> rows.stream().anyMatch(row -> row.get(column).isPresent()))
                .toList();
        for (ResultRow row : rows) {
            ObjectNode object = array.addObject();
            columns.forEach(column -> CsvJson.put(object, column, row.text(column)));
        }
    }

    private static void texts(ObjectNode object, String name, List<String> texts) {
        ArrayNode array = object.putArray(name);
        texts.forEach(array::add);
    }
}
