package org.expertpool.pool.cuda.convert;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleFactorRule;

/** What the child JVM of {@link DeviceConversionTest} runs: the conversion beside the host's packer. */
final class EmulatedConversion {
    private EmulatedConversion() {}

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open()) {
            for (ScaleFactorRule rule : ScaleFactorRule.values()) {
                for (ActivationType type : ActivationType.values()) {
                    ExpertPacker packer = new ExpertPacker(rule, type);
                    compare(context, packer, new ExpertRowLayout(64, 64), 3);
                    compare(context, packer, new ExpertRowLayout(320, 128), 5);
                    compare(context, packer, new ExpertRowLayout(128, 576), 2);
                }
            }
            refuse(context);
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    private static void compare(CudaContext context, ExpertPacker packer, ExpertRowLayout layout, int experts) {
        Random random = new Random(layout.hidden() + experts);
        List<PlainExpert> plain = new ArrayList<>();
        for (int expert = 0; expert < experts; expert++) {
            plain.add(expert(layout, random, expert));
        }
        ByteBuffer expected = ByteBuffer.allocate(Math.toIntExact(layout.rowOffset(experts)));
        List<ExpertPacker.Packed> packed =
                plain.stream().map(expert -> packer.pack(expert, expected)).toList();
        ByteBuffer actual = ByteBuffer.allocate(expected.capacity());
        if (!packed.equals(convert(context, packer, layout, plain, actual))) {
            throw new AssertionError("alphas or losses differ");
        }
        if (expected.rewind().mismatch(actual) >= 0) {
            throw new AssertionError("rows differ at byte " + expected.mismatch(actual));
        }
        System.out.println(packer.rule() + " " + packer.type() + " " + layout.hidden() + " x " + layout.expertWidth()
                + ": " + experts + " rows equal");
    }

    private static List<ExpertPacker.Packed> convert(
            CudaContext context,
            ExpertPacker packer,
            ExpertRowLayout layout,
            List<PlainExpert> experts,
            ByteBuffer rows) {
        long bytes = layout.rowOffset(experts.size());
        float[] globalScales = new float[3 * experts.size()];
        try (CudaStream stream = new CudaStream(context);
                DeviceConversion conversion = new DeviceConversion(context, layout, packer, experts.size() + 1);
                DeviceBuffer plain = DeviceBuffer.holding(
                        context, stream, bytes, host -> experts.forEach(expert -> expert.putPlain(host)));
                DeviceBuffer marlin = new DeviceBuffer(context, bytes);
                PinnedSlab back = new PinnedSlab(context, bytes)) {
            for (int expert = 0; expert < experts.size(); expert++) {
                globalScales[3 * expert] = experts.get(expert).gate().globalScale();
                globalScales[3 * expert + 1] = experts.get(expert).up().globalScale();
                globalScales[3 * expert + 2] = experts.get(expert).down().globalScale();
            }
            List<ExpertPacker.Packed> packed =
                    conversion.convert(7, experts.size(), plain.address(), globalScales, marlin.address(), stream);
            marlin.download(0, back, 0, bytes, stream);
            stream.synchronise("convert");
            rows.put(back.buffer()).flip();
            return packed;
        }
    }

    private static void refuse(CudaContext context) {
        ExpertRowLayout layout = new ExpertRowLayout(64, 64);
        for (int bad : new int[] {0x81, 0x7F, 0xFF}) {
            List<PlainExpert> experts = List.of(expert(layout, new Random(1), 0), expert(layout, new Random(2), 0));
            byte[] scales = experts.get(1).up().scales();
            scales[201] = (byte) bad;
            scales[77] = (byte) bad;
            try {
                convert(context, ExpertPacker.DEFAULT, layout, experts, ByteBuffer.allocate(1 << 20));
                throw new AssertionError("took a bad scale");
            } catch (BadInputException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }

    /** Random codes; scales all over, within a few binades, subnormal or zero, by the expert's number. */
    private static PlainExpert expert(ExpertRowLayout layout, Random random, int kind) {
        int hidden = layout.hidden();
        int width = layout.expertWidth();
        return new PlainExpert(
                tensor(width, hidden, random, kind),
                tensor(width, hidden, random, kind + 1),
                tensor(hidden, width, random, kind + 2));
    }

    private static Nvfp4Tensor tensor(int n, int k, Random random, int kind) {
        byte[] codes = new byte[n * k / 2];
        random.nextBytes(codes);
        byte[] scales = new byte[n * k / 16];
        for (int i = 0; i < scales.length; i++) {
            int scale = switch (kind % 4) {
                case 0 -> random.nextInt(0x7F);
                case 1 -> 0x30 + random.nextInt(0x10);
                case 2 -> random.nextInt(8);
                default -> 0;
            };
            scales[i] = (byte) (scale == 0 && random.nextBoolean() ? 0x80 : scale);
        }
        return new Nvfp4Tensor(n, k, codes, scales, (1 + random.nextInt(9)) * 0x1p-11f);
    }
}
