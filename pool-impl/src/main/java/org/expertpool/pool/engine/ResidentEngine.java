package org.expertpool.pool.engine;

import java.util.Arrays;
import org.expertpool.pool.bank.Bank;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.plan.Lanes;

/** All experts in rows of their own: the upper bound, and what every other engine must equal to the last bit. */
public final class ResidentEngine implements MoeEngine {
    private final HostSource source;
    private final int topK;
    private final Bank bank;

    /** Copies every row of the source into a bank of {@code layers * experts} rows. */
    public ResidentEngine(HostSource source, int topK) {
        this.source = source;
        this.topK = topK;
        bank = new Bank(
                Math.multiplyExact(source.layers(), source.experts()),
                source.layout().rowBytes());
        for (int row = 0; row < bank.rows(); row++) {
            bank.write(row, source.row(row / source.experts(), row % source.experts()));
        }
    }

    @Override
    public short[] forward(int layer, short[] activations, int[] ids, float[] weights) {
        LayerPass pass = new LayerPass(source, layer, topK, ids.length, activations, weights);
        int[] safeIds = new int[ids.length];
        Lanes.sanitise(ids, weights, ids.length, source.experts(), safeIds);
        int[] rowByExpert = new int[source.experts()];
        Arrays.setAll(rowByExpert, expert -> layer * source.experts() + expert);
        pass.compute(safeIds, rowByExpert, bank::row);
        return pass.sum();
    }
}
