package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Nvfp4Tensor;

/**
 * One expert in checkpoint form (marlin-nvfp4 1.4).
 *
 * @param gate {@code [I, H]}
 * @param up {@code [I, H]}; its global scale may differ from the gate's
 * @param down {@code [H, I]}
 */
public record PlainExpert(Nvfp4Tensor gate, Nvfp4Tensor up, Nvfp4Tensor down) {
    public PlainExpert {
        requireShape("up", up, gate.n(), gate.k());
        requireShape("down", down, gate.k(), gate.n());
    }

    /** The layout that this expert's row has. */
    public ExpertRowLayout layout() {
        return new ExpertRowLayout(gate.k(), gate.n());
    }

    /**
     * Writes a plain row at the buffer's position: the parts of a Marlin row at the same offsets, in checkpoint order. What
     * a conversion on the device takes.
     */
    public void putPlain(ByteBuffer into) {
        into.put(gate.codes()).put(up.codes()).put(gate.scales()).put(up.scales());
        into.put(down.codes()).put(down.scales());
    }

    private static void requireShape(String projection, Nvfp4Tensor tensor, int n, int k) {
        if (tensor.n() != n || tensor.k() != k) {
            throw new BadInputException("expert: " + projection + " has shape [" + tensor.n() + ", " + tensor.k()
                    + "], expected [" + n + ", " + k + "] beside its gate");
        }
    }
}
