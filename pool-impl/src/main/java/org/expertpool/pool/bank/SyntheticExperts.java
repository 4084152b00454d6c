package org.expertpool.pool.bank;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleOrder;
import org.expertpool.pool.marlin.WeightRepack;

/**
 * Seeded experts that are cheap to make: rows come directly in the Marlin form that packing the same experts by
 * {@link ExpertPacker#of} would give. A row depends on seed, layer, expert, shape and type alone; the experts are the same
 * for every type.
 *
 * <p>Every 4-bit code is equally likely. Block scales are E4M3 0x30 to 0x4F (0.5 to 7.5), equally likely; the first of
 * each projection is 7.5, which fixes the scale factor of bf16 at 2^5, so that code = byte + 0xA0; without a scale factor
 * it is byte + 0x78. Global scales keep sums over K near unit size; gate, up and down differ.
 *
 * @param seed any number
 * @param layers MoE layers
 * @param experts experts per layer
 * @param layout of the rows
 * @param type of the activations that the rows are made for
 */
public record SyntheticExperts(long seed, int layers, int experts, ExpertRowLayout layout, ActivationType type) {
    private static final int BF16_LOG2_FACTOR = 5;
    private static final long SCALE_SPREAD = 0x1F1F_1F1F_1F1F_1F1FL;
    private static final int LOWEST_SCALE = 0x30;
    private static final int LARGEST_SCALE = 0x4F;
    private static final long EVERY_BYTE = 0x0101_0101_0101_0101L;

    /** Root mean square of code times block scale under the distributions above. */
    private static final double WEIGHT_RMS = 9.88;

    // Each part draws from a stream of its own.
    private static final int W13 = 0;
    private static final int S13 = 1;
    private static final int W2 = 2;
    private static final int S2 = 3;
    private static final int GLOBAL_SCALES = 4;

    public SyntheticExperts {
        if (layers < 1 || experts < 1) {
            throw new BadInputException(
                    "synthetic experts: " + layers + " layers of " + experts + " experts, expected at least 1 of each");
        }
    }

    /** Experts for bf16 activations. */
    public SyntheticExperts(long seed, int layers, int experts, ExpertRowLayout layout) {
        this(seed, layers, experts, layout, ActivationType.BF16);
    }

    /** All rows and alphas in new memory outside the Java heap. */
    public HostSource hostSource() {
        return hostSource(SlabAllocator.DIRECT, layer -> {});
    }

    /**
     * All rows and alphas. Layers are asked for and filled in parallel, because new memory is slow to come by.
     *
     * @param memory of the rows
     * @param filled is told of each layer that is done, by several threads at once
     */
    public HostSource hostSource(SlabAllocator memory, IntConsumer filled) {
        int slabBytes = SlabSource.slabBytes(layout, experts);
        ByteBuffer[] slabs = new ByteBuffer[layers];
        Parallel.forEach(layers, layer -> {
            slabs[layer] = memory.slab(layer, slabBytes);
            fillLayer(layer, slabs[layer]);
            filled.accept(layer);
        });
        return new SlabSource(layout, type, experts, List.of(slabs), alphas());
    }

    /** Writes a layer's rows from the slab's position on, in parallel; the position stays. */
    public void fillLayer(int layer, ByteBuffer slab) {
        int rowBytes = (int) layout.rowBytes();
        int from = slab.position();
        IntStream.range(0, experts)
                .parallel()
                .forEach(expert -> fillRow(layer, expert, slab.slice(from + expert * rowBytes, rowBytes)));
    }

    /** Writes one row at the buffer's position, which moves past it. */
    public void fillRow(int layer, int expert, ByteBuffer into) {
        ByteBuffer row = into.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        putRandom(random(layer, expert, W13), layout.w13Bytes(), -1L, 0, row);
        int s13 = row.position();
        putRandom(
                random(layer, expert, S13),
                layout.s13Bytes(),
                SCALE_SPREAD,
                EVERY_BYTE * (LOWEST_SCALE + codeOffset()),
                row);
        row.put(s13 + ScaleOrder.position(0), (byte) (LARGEST_SCALE + codeOffset()));
        row.put(s13 + ScaleOrder.position(layout.expertWidth()), (byte) (LARGEST_SCALE + codeOffset()));
        putRandom(random(layer, expert, W2), layout.w2Bytes(), -1L, 0, row);
        int s2 = row.position();
        putRandom(
                random(layer, expert, S2),
                layout.s2Bytes(),
                SCALE_SPREAD,
                EVERY_BYTE * (LOWEST_SCALE + codeOffset()),
                row);
        row.put(s2 + ScaleOrder.position(0), (byte) (LARGEST_SCALE + codeOffset()));
        into.position(row.position());
    }

    /** The alpha table f32 {@code [layers * experts, 3]}. */
    public FloatBuffer alphas() {
        FloatBuffer table =
                FloatBuffer.allocate(Math.multiplyExact(Math.multiplyExact(layers, experts), HostSource.PROJECTIONS));
        for (int layer = 0; layer < layers; layer++) {
            for (int expert = 0; expert < experts; expert++) {
                for (float globalScale : globalScales(layer, expert)) {
                    table.put(type.alpha(globalScale, log2Factor()));
                }
            }
        }
        return table.flip();
    }

    /** The same expert in checkpoint form. */
    public PlainExpert plain(int layer, int expert) {
        ByteBuffer row = ByteBuffer.allocate((int) layout.rowBytes()).order(ByteOrder.LITTLE_ENDIAN);
        fillRow(layer, expert, row);
        row.flip();
        int hidden = layout.hidden();
        int width = layout.expertWidth();
        byte[] w13 = WeightRepack.unpack(words(row, layout.w13Bytes()), 2 * width, hidden);
        byte[] s13 = plainScales(row, layout.s13Bytes(), 2 * width, hidden);
        byte[] w2 = WeightRepack.unpack(words(row, layout.w2Bytes()), hidden, width);
        byte[] s2 = plainScales(row, layout.s2Bytes(), hidden, width);
        float[] scales = globalScales(layer, expert);
        return new PlainExpert(
                new Nvfp4Tensor(width, hidden, half(w13, 0), half(s13, 0), scales[0]),
                new Nvfp4Tensor(width, hidden, half(w13, 1), half(s13, 1), scales[1]),
                new Nvfp4Tensor(hidden, width, w2, s2, scales[2]));
    }

    private int log2Factor() {
        return type == ActivationType.BF16 ? BF16_LOG2_FACTOR : 0;
    }

    /** Between E4M3 bytes and scale codes (marlin-nvfp4 2.4). */
    private int codeOffset() {
        return 0x78 + 8 * log2Factor();
    }

    private float[] globalScales(int layer, int expert) {
        SplitMix64 random = random(layer, expert, GLOBAL_SCALES);
        int[] reductions = {layout.hidden(), layout.hidden(), layout.expertWidth()};
        float[] scales = new float[HostSource.PROJECTIONS];
        for (int i = 0; i < scales.length; i++) {
            double spread = 0.75 + 0.5 * random.nextUnit();
            scales[i] = (float) (spread / (WEIGHT_RMS * Math.sqrt(reductions[i])));
        }
        return scales;
    }

    private SplitMix64 random(int layer, int expert, int stream) {
        long key = (long) layer * experts + expert;
        return new SplitMix64(seed).derive(key).derive(stream);
    }

    private static void putRandom(SplitMix64 random, long bytes, long mask, long plus, ByteBuffer row) {
        for (long at = 0; at < bytes; at += Long.BYTES) {
            row.putLong((random.next() & mask) + plus);
        }
    }

    private static int[] words(ByteBuffer row, long bytes) {
        int[] words = new int[(int) (bytes / Integer.BYTES)];
        row.asIntBuffer().get(words);
        row.position(row.position() + (int) bytes);
        return words;
    }

    private byte[] plainScales(ByteBuffer row, long bytes, int n, int k) {
        byte[] codes = new byte[(int) bytes];
        row.get(codes);
        for (int i = 0; i < codes.length; i++) {
            codes[i] -= (byte) codeOffset();
        }
        return ScaleOrder.fromMarlin(codes, n, k);
    }

    private static byte[] half(byte[] both, int which) {
        int length = both.length / 2;
        byte[] half = new byte[length];
        System.arraycopy(both, which * length, half, 0, length);
        return half;
    }
}
