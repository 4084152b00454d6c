package org.expertpool.harness.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.expertpool.harness.analysis.Table;
import org.expertpool.harness.record.ResultRow;

/** Measures cells, and models those that name a device profile: both stand in one run, each row with its basis. */
final class MixedBackend implements CellBackend {
    private final CellBackend measured;
    private final CellBackend modelled;

    MixedBackend(CellBackend measured, CellBackend modelled) {
        this.measured = measured;
        this.modelled = modelled;
    }

    @Override
    public CellBackend of(Cell cell) {
        return cell.device().isPresent() ? modelled : measured;
    }

    @Override
    public String name() {
        return measured.name();
    }

    @Override
    public String basis() {
        return measured.basis();
    }

    @Override
    public String estimated() {
        return measured.estimated();
    }

    @Override
    public double estimateSeconds(List<Cell> cells) {
        return measured.estimateSeconds(those(cells, measured)) + modelled.estimateSeconds(those(cells, modelled));
    }

    @Override
    public Map<String, String> inputs() {
        Map<String, String> inputs = new TreeMap<>(modelled.inputs());
        inputs.putAll(measured.inputs());
        return inputs;
    }

    @Override
    public ObjectNode machine() {
        return measured.machine();
    }

    /** Nothing ahead of its turn: simulations beside a measurement would disturb it. */
    @Override
    public void prepare(List<Cell> cells) {}

    @Override
    public void measure(Cell cell, int repetition, ResultRow.Builder row) throws IOException {
        of(cell).measure(cell, repetition, row);
    }

    @Override
    public List<Table> details(List<Cell> cells, int stretchForwards) throws IOException {
        List<Cell> first = those(cells, measured);
        return first.isEmpty() ? modelled.details(cells, stretchForwards) : measured.details(first, stretchForwards);
    }

    private List<Cell> those(List<Cell> cells, CellBackend backend) {
        return cells.stream().filter(cell -> of(cell) == backend).toList();
    }

    @Override
    public void close() throws IOException {
        try (measured) {
            modelled.close();
        }
    }
}
