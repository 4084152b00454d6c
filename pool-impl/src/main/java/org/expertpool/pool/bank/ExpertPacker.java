package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleCodes;
import org.expertpool.pool.marlin.ScaleFactorRule;
import org.expertpool.pool.marlin.ScaleLoss;
import org.expertpool.pool.marlin.ScaleOrder;
import org.expertpool.pool.marlin.WeightRepack;

/**
 * Turns checkpoint experts into Marlin rows, one at a time, so that no more than one expert exists twice. Gate, up and
 * down each get a scale factor and a global scale of their own.
 *
 * @param rule how scale factors are chosen; {@link ScaleFactorRule#FROM_LARGEST} is the usual one
 * @param type what the activations are
 */
public record ExpertPacker(ScaleFactorRule rule, ActivationType type) {
    /** The newer rule, for bf16 activations. */
    public static final ExpertPacker DEFAULT = of(ActivationType.BF16);

    /** The newer rule. */
    public static ExpertPacker of(ActivationType type) {
        return new ExpertPacker(ScaleFactorRule.FROM_LARGEST, type);
    }

    /**
     * What goes into the alpha table for a packed expert, and what its scale factors lost.
     *
     * @param gate alpha of the gate projection
     * @param up alpha of the up projection
     * @param down alpha of the down projection
     * @param loss over the three projections
     */
    public record Packed(float gate, float up, float down, ScaleLoss loss) {}

    /**
     * Writes the row of an expert at the buffer's position, which moves past it; a refused expert leaves the buffer as it
     * was.
     *
     * @throws BadInputException scales that are negative or NaN, an alpha outside fp32, or a shape that Marlin cannot
     *     hold
     */
    public Packed pack(PlainExpert expert, ByteBuffer into) {
        ExpertRowLayout layout = expert.layout();
        int hidden = layout.hidden();
        int width = layout.expertWidth();
        ScaleCodes.Encoded gate = encode(expert.gate());
        ScaleCodes.Encoded up = encode(expert.up());
        ScaleCodes.Encoded down = encode(expert.down());
        Packed packed = new Packed(
                alpha(expert.gate(), gate),
                alpha(expert.up(), up),
                alpha(expert.down(), down),
                gate.loss().plus(up.loss()).plus(down.loss()));

        byte[] w13 = concat(expert.gate().codes(), expert.up().codes());
        putWords(WeightRepack.repack(w13, 2 * width, hidden), into);
        into.put(ScaleOrder.toMarlin(concat(gate.codes(), up.codes()), 2 * width, hidden));
        putWords(WeightRepack.repack(expert.down().codes(), hidden, width), into);
        into.put(ScaleOrder.toMarlin(down.codes(), hidden, width));
        return packed;
    }

    private ScaleCodes.Encoded encode(Nvfp4Tensor tensor) {
        return ScaleCodes.encode(tensor.scales(), rule, type);
    }

    private float alpha(Nvfp4Tensor tensor, ScaleCodes.Encoded scales) {
        return type.alpha(tensor.globalScale(), scales.log2Factor());
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static void putWords(int[] words, ByteBuffer into) {
        into.slice().order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(words);
        into.position(into.position() + words.length * Integer.BYTES);
    }
}
