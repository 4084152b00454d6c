package org.expertpool.harness.verify;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.PlainExpert;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.cuda.convert.DeviceConversion;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleFactorRule;

/** The conversion of experts on the device beside the host's packer: rows, alphas and losses. */
public final class ConversionConformance {
    /** Told of each comparison. */
    public interface Report {
        void accept(DriverKind driverKind, String name, Verification.Outcome outcome, double seconds);
    }

    private static final List<ExpertRowLayout> QUICK =
            List.of(new ExpertRowLayout(64, 64), new ExpertRowLayout(320, 128));
    private static final List<ExpertRowLayout> ALL =
            List.of(QUICK.get(0), QUICK.get(1), new ExpertRowLayout(256, 64), new ExpertRowLayout(2560, 640));
    private static final int EXPERTS = 6;

    private ConversionConformance() {}

    /** A row for each shape, scale factor rule and activation type. */
    public static void run(boolean quick, long seed, Report report) {
        run(quick ? QUICK : ALL, seed, report);
    }

    static void run(List<ExpertRowLayout> layouts, long seed, Report report) {
        try (CudaContext context = CudaContext.open();
                CudaStream stream = new CudaStream(context)) {
            for (ExpertRowLayout layout : layouts) {
                List<PlainExpert> experts = experts(layout, new Random(seed + layout.hidden()));
                for (ScaleFactorRule rule : ScaleFactorRule.values()) {
                    for (ActivationType type : ActivationType.values()) {
                        long start = System.nanoTime();
                        Optional<String> difference =
                                compare(context, stream, new ExpertPacker(rule, type), layout, experts);
                        report.accept(
                                context.driverKind(),
                                "%d x %d, %s, %s".formatted(layout.hidden(), layout.expertWidth(), rule, type),
                                new Verification.Outcome(EXPERTS, 0, 0, difference),
                                (System.nanoTime() - start) * 1e-9);
                    }
                }
            }
        }
    }

    private static Optional<String> compare(
            CudaContext context,
            CudaStream stream,
            ExpertPacker packer,
            ExpertRowLayout layout,
            List<PlainExpert> experts) {
        long bytes = layout.rowOffset(EXPERTS);
        ByteBuffer expected = ByteBuffer.allocate(Math.toIntExact(bytes));
        List<ExpertPacker.Packed> packed =
                experts.stream().map(expert -> packer.pack(expert, expected)).toList();
        float[] globalScales = new float[3 * EXPERTS];
        for (int expert = 0; expert < EXPERTS; expert++) {
            globalScales[3 * expert] = experts.get(expert).gate().globalScale();
            globalScales[3 * expert + 1] = experts.get(expert).up().globalScale();
            globalScales[3 * expert + 2] = experts.get(expert).down().globalScale();
        }
        try (DeviceConversion conversion = new DeviceConversion(context, layout, packer, EXPERTS);
                DeviceBuffer plain = DeviceBuffer.holding(
                        context, stream, bytes, host -> experts.forEach(expert -> expert.putPlain(host)));
                DeviceBuffer marlin = new DeviceBuffer(context, bytes);
                PinnedSlab back = new PinnedSlab(context, bytes)) {
            List<ExpertPacker.Packed> converted =
                    conversion.convert(0, EXPERTS, plain.address(), globalScales, marlin.address(), stream);
            marlin.download(0, back, 0, bytes, stream);
            stream.synchronise("convert experts");
            int at = expected.flip().mismatch(back.buffer());
            if (at >= 0) {
                return Optional.of("row " + at / layout.rowBytes() + " at its byte " + at % layout.rowBytes());
            }
            return converted.equals(packed) ? Optional.empty() : Optional.of("alphas or losses differ");
        }
    }

    /** Random codes; scales from a random range of E4M3 for each projection, some of them minus zero. */
    private static List<PlainExpert> experts(ExpertRowLayout layout, Random random) {
        List<PlainExpert> experts = new ArrayList<>();
        for (int expert = 0; expert < EXPERTS; expert++) {
            experts.add(new PlainExpert(
                    tensor(layout.expertWidth(), layout.hidden(), random),
                    tensor(layout.expertWidth(), layout.hidden(), random),
                    tensor(layout.hidden(), layout.expertWidth(), random)));
        }
        return experts;
    }

    private static Nvfp4Tensor tensor(int n, int k, Random random) {
        byte[] codes = new byte[n * k / 2];
        random.nextBytes(codes);
        byte[] scales = new byte[n * k / Nvfp4Tensor.BLOCK];
        int least = random.nextInt(0x60);
        int most = random.nextInt(4) == 0 ? 8 : 1 + random.nextInt(0x7E - least);
        for (int i = 0; i < scales.length; i++) {
            scales[i] = (byte) (random.nextInt(50) == 0 ? 0x80 : least + random.nextInt(most + 1));
        }
        return new Nvfp4Tensor(n, k, codes, scales, (1 + random.nextInt(9)) * 0x1p-11f);
    }
}
