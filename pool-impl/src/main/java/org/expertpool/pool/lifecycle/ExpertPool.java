package org.expertpool.pool.lifecycle;

import java.util.Map;
import org.expertpool.pool.PoolFailureException;
import org.expertpool.pool.bank.Bank;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.ReferencePlanner;
import org.expertpool.pool.plan.StepPlan;
import org.expertpool.pool.plan.TableCheck;
import org.expertpool.pool.route.Partition;

/**
 * A pool on the Java backend, from installation to serving (pool-semantics 7): the planner, and the bank whose rows it
 * moves for real. Starts with the gate closed. Not for concurrent use.
 */
public final class ExpertPool {
    /** What rows hold between uses in poison mode: large weights and scales, so that reading one shows. */
    private static final byte POISON = (byte) 0xFF;

    private final PoolConfig config;
    private final HostSource source;
    private final Bank bank;
    private final ReferencePlanner planner;
    private final boolean poison;
    private int stagedRows;
    private long copiedBytes;
    private boolean checked;

    private ExpertPool(PoolConfig config, HostSource source, boolean poison) {
        this.config = config;
        this.source = source;
        this.poison = poison;
        planner = new ReferencePlanner(config);
        bank = new Bank(config.bankRows(), source.layout().rowBytes());
    }

    /** Judges the request and, if it is admitted, makes the bank and copies in the first n rows of each layer. */
    public static ExpertPool install(PoolRequest request) {
        return install(request, false);
    }

    /** As {@link #install(PoolRequest)}, with rows poisoned whenever their bytes are no longer wanted. */
    public static ExpertPool installPoisoned(PoolRequest request) {
        return install(request, true);
    }

    private static ExpertPool install(PoolRequest request, boolean poison) {
        ExpertPool pool = new ExpertPool(PoolGuards.admit(request), request.source(), poison);
        pool.copyInResidents();
        return pool;
    }

    public PoolConfig config() {
        return config;
    }

    public PoolTables tables() {
        return planner.tables();
    }

    public PoolControls controls() {
        return planner.controls();
    }

    public HostSource source() {
        return source;
    }

    public Bank bank() {
        return bank;
    }

    /** Checks tables and a sample of rows, and opens the gate; what fails is fatal. */
    public void openGate() {
        openGate(RowCheck.SAMPLED);
    }

    /** As {@link #openGate()} with another sample. */
    public void openGate(RowCheck rows) {
        check(rows);
        checked = true;
        planner.controls(planner.controls().withGate(true));
    }

    public void closeGate() {
        planner.controls(planner.controls().withGate(false));
    }

    /**
     * Changes some controls by name, all or none.
     *
     * @throws IllegalStateException this would open the gate of a pool that {@link #openGate} has not checked
     */
    public void control(Map<String, ? extends Number> changes) {
        PoolControls next = planner.controls().with(changes);
        if (next.gateOpen() && !checked) {
            throw new IllegalStateException("gate is 1, expected 0 until openGate has checked the placement");
        }
        planner.controls(next);
    }

    /** Throws {@link PoolFailureException} where tables or the compared rows are not as they must be. */
    public void check(RowCheck rows) {
        TableCheck.require(tables());
        rows.require(tables(), bank, source);
    }

    /** Plans one layer call of at most S lanes and does its copies; see {@link ReferencePlanner#step}. */
    public StepPlan step(int layer, int[] ids, float[] weights, int lanes) {
        StepPlan plan = planner.step(layer, ids, weights, lanes);
        for (int copy = 0; copy < plan.copies(); copy++) {
            copyRow(layer, plan.copyExpert(copy), plan.copyRow(copy));
            copiedBytes += bank.rowBytes();
        }
        for (int staged = plan.staged(); poison && staged < stagedRows; staged++) {
            bank.fill(config.poolRows() + staged, POISON);
        }
        stagedRows = plan.staged();
        return plan;
    }

    /** Bytes that steps have copied from the host source into bank rows so far. */
    public long copiedBytes() {
        return copiedBytes;
    }

    /** Splits a layer call of any width between bank and host source; moves nothing (pool-semantics 6). */
    public Partition partition(int layer, int[] ids, float[] weights, int lanes) {
        return Partition.split(tables(), layer, planner.sanitise(ids, weights, lanes));
    }

    /** Exchanges a resident expert for one that is not, bytes included; only with the gate closed. */
    public void swap(int layer, int resident, int other) {
        int row = planner.swap(layer, resident, other);
        copyRow(layer, other, row);
        checked = false;
    }

    /** The host's synchronisation: reports invalid routing of any step since the error was last cleared. */
    public void synchronise() {
        if (tables().error() != 0) {
            throw new PoolFailureException("invalid routing: a lane had an expert id outside -1 to "
                    + (config.experts() - 1) + ", or a weight that is negative or not finite");
        }
    }

    public void clearError() {
        planner.clearError();
    }

    private void copyInResidents() {
        for (int row = 0; row < config.poolRows(); row++) {
            int key = tables().rowKey(row);
            copyRow(key / config.experts(), key % config.experts(), row);
        }
        for (int row = config.poolRows(); poison && row < config.bankRows(); row++) {
            bank.fill(row, POISON);
        }
    }

    private void copyRow(int layer, int expert, int row) {
        if (poison) {
            bank.fill(row, POISON);
        }
        try {
            bank.write(row, source.row(layer, expert));
        } catch (RuntimeException failure) {
            throw new PoolFailureException(
                    "copy to row " + row + " of layer " + layer + " expert " + expert + " failed: "
                            + failure.getMessage(),
                    failure);
        }
    }
}
