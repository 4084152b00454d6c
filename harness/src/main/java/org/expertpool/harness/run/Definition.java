package org.expertpool.harness.run;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.expertpool.pool.marlin.ActivationType;

/**
 * An experiment as declared in a TOML file.
 *
 * @param name names the experiment and its result folder
 * @param question what it is to answer
 * @param expectation what was expected before the first run
 * @param model preset name, geometry file, or checkpoint directory from the repository root on
 * @param activations type of the model's activations where experts are computed
 * @param trace the routing that is replayed
 * @param windows by name
 * @param cells in the order in which they run
 * @param repetitions rows per cell
 * @param freshProcesses each repetition is measured by a process of its own
 * @param memory what {@code memory} means to cells on a device
 * @param checks what must hold of the results
 * @param details which cells are taken apart
 * @param reported ids of rows of the reported figures that belong beside the results
 * @param markedRows values of N to point out in tables
 * @param text the definition as it is kept beside the results: running it gives the same cells
 */
record Definition(
        String name,
        String question,
        String expectation,
        String model,
        ActivationType activations,
        TraceSpec trace,
        Map<String, Window> windows,
        List<Cell> cells,
        int repetitions,
        boolean freshProcesses,
        DeviceLimit.Rule memory,
        List<Check> checks,
        Optional<Details> details,
        List<String> reported,
        List<Integer> markedRows,
        String text) {
    Definition {
        windows = Map.copyOf(windows);
        cells = List.copyOf(cells);
        checks = List.copyOf(checks);
        reported = List.copyOf(reported);
        markedRows = List.copyOf(markedRows);
    }

    Window window(Cell cell) {
        return windows.get(cell.window());
    }

    Optional<Cell> cell(String id) {
        return cells.stream().filter(cell -> cell.id().equals(id)).findFirst();
    }
}
