package org.expertpool.pool.cuda.engine;

import java.util.Arrays;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.lifecycle.PoolGuards;
import org.expertpool.pool.lifecycle.PoolRequest;
import org.expertpool.pool.lifecycle.RowCheck;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.policy.PlacementPolicy;
import org.expertpool.pool.policy.PolicyKind;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.RoutingEvent;
import org.expertpool.pool.policy.StepTally;

/**
 * A placement that a policy decides on the host, and the bank that follows it: rows of the pool, then staging rows. Bytes
 * move where the policy's rows and the bank's differ, so what is counted is what was copied.
 */
final class HostPlacement implements AutoCloseable {
    private final DeviceModel model;
    private final PoolConfig config;
    private final PlacementPolicy policy;
    private final DeviceBank bank;
    private final int[] owner; // [L*n] key whose bytes a row holds, or ABSENT
    private final ResidencyMaps maps;
    private final StepTally tally = new StepTally();

    HostPlacement(DeviceModel model, PolicyKind kind, PolicySetup setup) {
        PolicySetup settled = kind.settle(setup);
        if (!kind.knowledge(settled).isEmpty()) {
            throw new BadInputException(
                    "policy is " + kind + ", expected one that knows nothing of a trace beforehand");
        }
        this.model = model;
        config = PoolGuards.admit(PoolRequest.onDevice(settled.pool(), model.source()));
        policy = kind.create(settled);
        owner = new int[config.poolRows()];
        Arrays.fill(owner, PoolTables.ABSENT);
        try (CudaContext.Attempt all = model.context().attempt()) {
            bank = new DeviceBank(model.context(), model.shape().row(), config.bankRows());
            maps = new ResidencyMaps(model);
            moveChanged(model.stream());
            maps.upload(model.stream());
            model.stream().synchronise("copy in the first rows of " + config.layers() + " layers");
            all.succeeded();
        }
    }

    PoolConfig config() {
        return config;
    }

    DeviceBank bank() {
        return bank;
    }

    /** Where each layer's experts are as of the last upload; upload to let the device see what has changed. */
    ResidencyMaps maps() {
        return maps;
    }

    int row(int layer, int expert) {
        return policy.row(layer, expert);
    }

    /** Lets the policy decide; nothing moves yet. Returns how many rows it exchanged. */
    long step(RoutingEvent event) {
        tally.clear();
        policy.step(event, tally);
        return tally.exchanged;
    }

    /** Copies an expert into the row that the policy gave it; false where it lies there already. */
    boolean move(int layer, int expert, CudaStream stream) {
        int row = policy.row(layer, expert);
        int key = config.key(layer, expert);
        if (owner[row] == key) {
            return false;
        }
        if (owner[row] != PoolTables.ABSENT) {
            int formerLayer = owner[row] / config.experts();
            int former = owner[row] % config.experts();
            maps.put(formerLayer, former, policy.row(formerLayer, former));
        }
        owner[row] = key;
        maps.put(layer, expert, row);
        bank.copyIn(row, model.source(), layer, expert, 1, stream);
        return true;
    }

    /** As {@link #move}, for every expert; returns how many rows were copied. */
    int moveChanged(CudaStream stream) {
        int moved = 0;
        for (int layer = 0; layer < config.layers(); layer++) {
            for (int expert = 0; expert < config.experts(); expert++) {
                if (policy.row(layer, expert) != PoolTables.ABSENT && move(layer, expert, stream)) {
                    moved++;
                }
            }
        }
        return moved;
    }

    /** Copies an expert into a staging row, for this call alone, and returns the row. */
    int stage(int layer, int expert, int number, CudaStream stream) {
        int row = config.poolRows() + number;
        bank.copyIn(row, model.source(), layer, expert, 1, stream);
        return row;
    }

    /** Throws where the policy's own invariants are broken, or the compared rows are not as they must be. */
    void check(RowCheck rows) {
        policy.check();
        try (PinnedSlab row =
                new PinnedSlab(model.context(), model.shape().row().rowBytes())) {
            rows.require(
                    config,
                    key -> policy.row(key / config.experts(), key % config.experts()),
                    index -> {
                        bank.copyOut(index, row, model.stream());
                        model.stream().synchronise("read back row " + index);
                        return row.buffer();
                    },
                    model.source());
        }
    }

    @Override
    public void close() {
        maps.close();
        bank.close();
    }
}
