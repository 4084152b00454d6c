package org.expertpool.harness.run;

import java.util.OptionalLong;
import org.expertpool.harness.cost.CapacityModel;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.cost.MemoryBudget;
import org.expertpool.harness.record.ResultRow;
import org.expertpool.pool.model.ModelGeometry;

/**
 * What fits beside the bank of a pool's cell on a card of so many bytes, by the capacity model.
 *
 * @param memoryBytes the card's, or the limit that a run sets
 * @param device says how much of it can be used
 */
record MemoryColumns(ModelGeometry model, long memoryBytes, DeviceProfile device) {
    private static final int CHUNK_TOKENS = CapacityModel.Options.SEED.chunkTokens();

    /** Whether the cell's rows and context fit, and the largest context that does. */
    void put(ResultRow.Builder row, Cell cell) {
        row.put("fits", Boolean.toString(budget(cell).fits()));
        capacity(cell).contextTokens(cell.rows()).ifPresent(tokens -> row.put("context_capacity_tokens", tokens));
    }

    /** What is left, in bytes; empty where it does not fit. */
    OptionalLong free(Cell cell) {
        MemoryBudget budget = budget(cell);
        return budget.fits() ? OptionalLong.of(budget.freeBytes()) : OptionalLong.empty();
    }

    private MemoryBudget budget(Cell cell) {
        return capacity(cell).budget(cell.rows(), cell.contextTokens().orElse(0));
    }

    private CapacityModel capacity(Cell cell) {
        CapacityModel.Options options = new CapacityModel.Options(CHUNK_TOKENS, 0, cell.decodeTokens());
        return new CapacityModel(model, memoryBytes, device, options);
    }
}
