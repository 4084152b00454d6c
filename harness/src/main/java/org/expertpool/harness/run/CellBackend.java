package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.record.ResultRow;

/** What produces the metrics of a cell: a model, or real kernels on a device. */
interface CellBackend extends AutoCloseable {
    /** What measures this cell: its name and basis stand in the row. */
    default CellBackend of(Cell cell) {
        return this;
    }

    /** Stands in the {@code backend} column. */
    String name();

    /** Stands in the {@code basis} column. */
    String basis();

    /** Stands in the {@code device} column of a cell. */
    default String device(Cell cell) {
        return cell.device().orElse("");
    }

    /** Rough time that these cells take together, seconds. */
    double estimateSeconds(List<Cell> cells);

    /** What part of a run's time is estimated, in words behind it; empty for all of it. */
    default String estimated() {
        return "";
    }

    /** What went into the cells measured so far, such as traces with their hashes or seeds, by name. */
    default Map<String, String> inputs() {
        return Map.of();
    }

    /** What the run itself found out about its machine, for the environment beside the results; may use the machine. */
    default ObjectNode machine() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Told of all cells that will be measured, before the first one: work that they share can begin. */
    default void prepare(List<Cell> cells) {}

    /**
     * Runs one repetition of a cell and puts its metrics into {@code row}.
     *
     * @throws SkippedException where something that the cell needs is not on this machine
     * @throws org.expertpool.pool.BadInputException where a guard refuses the cell's settings
     */
    void measure(Cell cell, int repetition, ResultRow.Builder row) throws IOException;

    /** Tables that take these cells apart, whose lines say of which one they are; none where a backend has none. */
    default List<Table> details(List<Cell> cells, int stretchForwards) throws IOException {
        return List.of();
    }

    @Override
    void close() throws IOException;
}
