package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.MAX_LANES;
import static org.expertpool.pool.cuda.layout.KernelLayouts.STEP_OUTPUT;

import java.nio.ByteBuffer;
import java.util.Map;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.DevicePlanner;
import org.expertpool.pool.cuda.DeviceTables;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.lifecycle.PoolGuards;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.TableCheck;

/**
 * A pool on the device, from installation to serving (pool-semantics 7): tables, bank and row copies at fixed addresses.
 * Starts with the gate closed; warm-up and capture belong before {@link #openGate}. Calls of at most S lanes are
 * planned, wider ones partitioned, with the host's device view ({@link WidePool} streams instead).
 */
public final class DevicePool implements LayerEngine {
    private final DeviceModel model;
    private final PoolConfig config;
    private final DeviceTables tables;
    private final DeviceBank bank;
    private final RowCopier copier;
    private final DeviceBuffer plans; // StepOutput [L]
    private final DeviceBuffer stepMaps; // i32 [L, E]
    private PoolControls controls = PoolControls.DEFAULTS;
    private boolean checked;

    /** Judges the configuration and, if it is admitted, makes the bank and copies in the first n rows of each layer. */
    public static DevicePool install(DeviceModel model, PoolConfig config, int copyBlocks) {
        DevicePlanner.requireFits(config);
        return new DevicePool(model, PoolGuards.admit(PoolRequest.onDevice(config, model.source())), copyBlocks);
    }

    private DevicePool(DeviceModel model, PoolConfig config, int copyBlocks) {
        this.model = model;
        this.config = config;
        try (CudaContext.Attempt all = model.context().attempt()) {
            tables = new DeviceTables(model.context(), config, model.stream());
            tables.upload(new PoolTables(config));
            tables.controls(controls);
            bank = new DeviceBank(model.context(), model.shape().row(), config.bankRows());
            copier = new RowCopier(model.context(), model.source(), bank, copyBlocks, model.stream());
            plans = new DeviceBuffer(model.context(), (long) STEP_OUTPUT.bytes() * config.layers());
            plans.fill(0, plans.bytes(), (byte) 0, model.stream());
            for (int layer = 0; layer < config.layers(); layer++) { // what no step has missed is not brought
                long missRows = (long) STEP_OUTPUT.bytes() * layer + STEP_OUTPUT.offset("missRows");
                plans.fill(missRows, (long) Integer.BYTES * MAX_LANES, (byte) PoolTables.ABSENT, model.stream());
            }
            stepMaps = new DeviceBuffer(model.context(), (long) Integer.BYTES * config.keys());
            int rows = config.poolRows() / config.layers();
            for (int layer = 0; layer < config.layers(); layer++) {
                bank.copyIn(layer * rows, model.source(), layer, 0, rows, model.stream());
            }
            model.stream().synchronise("copy in the first " + rows + " rows of " + config.layers() + " layers");
            all.succeeded();
        }
    }

    @Override
    public String name() {
        return "pool";
    }

    @Override
    public long bankBytes() {
        return bank.bytes();
    }

    @Override
    public boolean validates() {
        return true;
    }

    public PoolConfig config() {
        return config;
    }

    /** The tables after the work enqueued so far. */
    public PoolTables tables() {
        return tables.download();
    }

    public PoolControls controls() {
        return controls;
    }

    public DeviceBank bank() {
        return bank;
    }

    @Override
    public LayerCalls bind(CallMemory memory) {
        return memory.lanes() > config.width().lanes() ? new HostViewCalls(this, memory) : new PoolCalls(this, memory);
    }

    /** Checks tables and a sample of rows, and opens the gate; what fails is fatal. */
    public void openGate(RowCheck rows) {
        check(rows);
        checked = true;
        setControls(controls.withGate(true));
    }

    public void closeGate() {
        setControls(controls.withGate(false));
    }

    /**
     * Changes some controls by name, all or none; work enqueued later, replays of captured graphs included, sees them.
     *
     * @throws IllegalStateException this would open the gate of a pool that {@link #openGate} has not checked
     */
    public void control(Map<String, ? extends Number> changes) {
        PoolControls next = controls.with(changes);
        if (next.gateOpen() && !checked) {
            throw new IllegalStateException("gate is 1, expected 0 until openGate has checked the placement");
        }
        setControls(next);
    }

    @Override
    public void check(RowCheck rows) {
        PoolTables now = tables();
        TableCheck.require(now);
        try (PinnedSlab row =
                new PinnedSlab(model.context(), model.shape().row().rowBytes())) {
            rows.require(now, index -> read(index, row), model.source());
        }
    }

    /**
     * Takes over a whole placement, bytes included; only with the gate closed. Rows may be without an owner.
     *
     * @throws PoolFailureException the tables are not as they must be, or invalid routing was seen and not cleared
     */
    public void place(PoolTables next) {
        if (controls.gateOpen()) {
            throw new IllegalStateException("a new placement: the gate is open, expected closed");
        }
        if (!next.config().equals(config)) {
            throw new IllegalArgumentException("a placement for " + next.config() + ", expected for " + config);
        }
        TableCheck.require(next);
        synchronise("take over a placement"); // its tables have no error, and must not hide one
        for (int row = 0; row < config.poolRows(); row++) {
            int key = next.rowKey(row);
            if (key != PoolTables.ABSENT) {
                bank.copyIn(row, model.source(), key / config.experts(), key % config.experts(), 1, model.stream());
            }
        }
        tables.upload(next);
        checked = false;
    }

    /** Exchanges a resident expert for one that is not, bytes included; only with the gate closed. */
    public void swap(int layer, int resident, int other) {
        if (controls.gateOpen()) {
            throw new IllegalStateException("swap of experts " + resident + " and " + other + " of layer " + layer
                    + ": the gate is open, expected closed");
        }
        PoolTables now = tables();
        int row = now.swap(layer, resident, other);
        bank.copyIn(row, model.source(), layer, other, 1, model.stream());
        tables.upload(now);
        checked = false;
    }

    /** Waits for all work enqueued; reports invalid routing of any step since the error was last cleared. */
    public void synchronise(String doing) {
        tables.invalidLane(doing).ifPresent(invalid -> {
            throw new PoolFailureException("invalid routing at layer " + invalid.layer() + ", lane " + invalid.lane()
                    + ": an expert id outside -1 to " + (config.experts() - 1)
                    + ", or a weight that is negative or not finite");
        });
    }

    public void clearError() {
        tables.clearError();
    }

    @Override
    public void close() {
        stepMaps.close();
        plans.close();
        copier.close();
        bank.close();
        tables.close();
    }

    DeviceModel model() {
        return model;
    }

    DeviceTables deviceTables() {
        return tables;
    }

    RowCopier copier() {
        return copier;
    }

    /** A layer's experts in the bank. */
    WideParts.Rows residents(int layer) {
        return new WideParts.Rows(
                bank.view(), tables.address("hotRow") + (long) Integer.BYTES * config.experts() * layer);
    }

    /** Device address of i32 {@code [experts]}: a layer's host rows, -1 where resident. */
    long coldRows(int layer) {
        return tables.address("coldRow") + (long) Integer.BYTES * config.experts() * layer;
    }

    long plan(int layer) {
        return plans.address() + (long) STEP_OUTPUT.bytes() * layer;
    }

    long stepMap(int layer) {
        return stepMaps.address() + (long) Integer.BYTES * config.experts() * layer;
    }

    private void setControls(PoolControls next) {
        tables.controls(next);
        controls = next;
    }

    private ByteBuffer read(int row, PinnedSlab to) {
        bank.copyOut(row, to, model.stream());
        model.stream().synchronise("read back row " + row);
        return to.buffer();
    }
}
