package org.expertpool.pool.cuda.engine;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.DoublePredicate;
import java.util.stream.IntStream;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.SyntheticExperts;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.cuda.PinnedSource;
import org.expertpool.pool.cuda.layout.KernelLayouts;
import org.expertpool.pool.engine.ResidentEngine;
import org.expertpool.pool.marlin.ActivationType;

/** What the child JVM of {@link DeviceMoeTest} runs: calls over rows in a bank and in host memory, beside the Java engine. */
final class EmulatedMoe {
    private static final int[] TOKENS = {1, 2, 3, 4, 5, 130};

    private final CudaContext context;
    private final MoeShape shape;
    private final CudaStream stream;
    private final PinnedSource source;
    private final AlphaTable alphas;
    private final ResidentEngine expected;

    private EmulatedMoe(CudaContext context, ActivationType type) {
        this.context = context;
        shape = new MoeShape(3, 2, new ExpertRowLayout(128, 64), type);
        SyntheticExperts experts = new SyntheticExperts(5, 2, shape.experts(), shape.row(), type);
        stream = new CudaStream(context);
        source = PinnedSource.load(context, memory -> experts.hostSource(memory, layer -> {}));
        alphas = new AlphaTable(context, source, stream);
        expected = new ResidentEngine(source, shape.topK());
    }

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open()) {
            if (arguments.length > 0) {
                PinnedSlab.large(context, 4 << 20).close();
                System.out.println("pinned");
            } else {
                for (ActivationType type : ActivationType.values()) {
                    new EmulatedMoe(context, type).run();
                }
            }
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    private void run() {
        int[] rowOfExpert = {4, 0, 2};
        DeviceBank bank = new DeviceBank(context, shape.row(), 5);
        bank.fill((byte) 0xff, stream);
        for (int expert = 0; expert < shape.experts(); expert++) {
            bank.copyIn(rowOfExpert[expert], source, 1, expert, 1, stream);
        }
        compare("bank", bank.view(), rowOfExpert);
        compare("host view", new RowView(source.deviceRow(1), shape.row(), true), new int[] {0, 1, 2});
        compareMissed(bank, rowOfExpert);
        compareBoundFirst(bank, rowOfExpert);
        compareNotFinite(bank, rowOfExpert);
        compareParts(bank, rowOfExpert);
        compareCopies(bank);
        refusesASecondStream(bank, rowOfExpert);
    }

    /** Two streams over one scratch memory (marlin-nvfp4 8, row 18); each with its own is fine. */
    private void refusesASecondStream(DeviceBank bank, int[] rowOfExpert) {
        Inputs inputs = new Inputs(3);
        try (CudaStream other = new CudaStream(context);
                DeviceMoe moe = new DeviceMoe(context, shape, 3, stream);
                DeviceMoe others = new DeviceMoe(context, shape, 3, other);
                MoeLaunch launch = moe.bind(inputs.call(bank.view(), rowOfExpert));
                MoeLaunch theirs = others.bind(inputs.call(bank.view(), rowOfExpert))) {
            try {
                launch.enqueue(other);
                throw new AssertionError("a second stream was taken");
            } catch (IllegalStateException refused) {
                say(refused.getMessage());
            }
            other.synchronise("clear the scratch memory");
            short[] actual = inputs.run(queue -> {
                theirs.enqueue(other);
                other.synchronise("run a call on another stream");
            });
            require(Arrays.equals(actual, inputs.expected()), "its own stream");
        }
    }

    private void compare(String name, RowView rows, int[] rowOfExpert) {
        StringBuilder line = new StringBuilder(name);
        try (DeviceMoe moe = new DeviceMoe(context, shape, 130, stream)) {
            for (int tokens : TOKENS) {
                Inputs inputs = new Inputs(tokens);
                try (MoeLaunch launch = moe.bind(inputs.call(rows, rowOfExpert))) {
                    require(Arrays.equals(inputs.run(launch::enqueue), inputs.expected()), tokens + " tokens");
                    line.append(' ').append(tokens);
                }
            }
        }
        say(line + " tokens equal");
    }

    /** One activation infinite, one NaN, and lanes too large for the type, by both kinds of way. */
    private void compareNotFinite(DeviceBank bank, int[] rowOfExpert) {
        for (int tokens : new int[] {3, 9}) {
            Inputs inputs = new Inputs(tokens);
            inputs.activations[7] = shape.activations().fromFloat(Float.NEGATIVE_INFINITY);
            inputs.activations[shape.row().hidden()] = (short) 0xFFA1; // a NaN in both types
            Arrays.fill(inputs.weights, 2 * shape.topK(), 3 * shape.topK(), 0x1p125f);
            try (DeviceMoe moe = new DeviceMoe(context, shape, tokens, stream);
                    MoeLaunch launch = moe.bind(inputs.call(bank.view(), rowOfExpert))) {
                short[] expected = inputs.expected();
                require(has(expected, Double::isNaN) && has(expected, Double::isInfinite), "NaN and infinity");
                require(Arrays.equals(inputs.run(launch::enqueue), expected), "not finite, " + tokens + " tokens");
            }
        }
        say("not finite equal");
    }

    private boolean has(short[] outputs, DoublePredicate kind) {
        return IntStream.range(0, outputs.length)
                .anyMatch(i -> kind.test(shape.activations().toFloat(outputs[i])));
    }

    private void say(String line) {
        System.out.println(shape.activations().label() + " " + line);
    }

    /** An expert whose row is still on the host, and is in the bank afterwards. */
    private void compareMissed(DeviceBank bank, int[] rowOfExpert) {
        int missed = 1;
        RowView host = new RowView(source.deviceRow(1), shape.row(), true);
        try (DeviceMoe moe = new DeviceMoe(context, shape, 5, stream);
                PinnedSlab row = new PinnedSlab(context, shape.row().rowBytes())) {
            for (int tokens = 1; tokens <= 4; tokens++) {
                Inputs inputs = new Inputs(tokens);
                bank.fill((byte) 0xff, stream);
                bank.copyIn(rowOfExpert[0], source, 1, 0, 1, stream);
                bank.copyIn(rowOfExpert[2], source, 1, 2, 1, stream);
                try (MoeLaunch launch =
                        moe.bind(inputs.call(bank.view(), rowOfExpert).withMissed(inputs.missRows(missed), host))) {
                    require(Arrays.equals(inputs.run(launch::enqueue), inputs.expected()), tokens + " tokens, missed");
                }
                bank.copyOut(rowOfExpert[missed], row, stream);
                stream.synchronise("read a row");
                boolean touched = Arrays.stream(inputs.ids).anyMatch(id -> id == missed);
                require(row.buffer().mismatch(source.row(1, missed)) == (touched ? -1 : 0), "the missed row");
            }
            MoeCall wide = new Inputs(5).call(bank.view(), rowOfExpert).withMissed(1, host);
            say("missed rows kept; " + refusal(() -> moe.bind(wide)));
        }
        bank.copyIn(rowOfExpert[missed], source, 1, missed, 1, stream);
    }

    /** A call of more shared memory, launched after one of less was bound: what a kernel may take is the kernel's. */
    private void compareBoundFirst(DeviceBank bank, int[] rowOfExpert) {
        Inputs inputs = new Inputs(4);
        RowView host = new RowView(source.deviceRow(1), shape.row(), true);
        try (DeviceMoe moe = new DeviceMoe(context, shape, 4, stream);
                MoeLaunch onHost = moe.bind(inputs.call(host, new int[] {0, 1, 2}));
                MoeLaunch inBank = moe.bind(inputs.call(bank.view(), rowOfExpert))) {
            require(Arrays.equals(inputs.run(onHost::enqueue), inputs.expected()), "bound first");
            require(Arrays.equals(inputs.run(inBank::enqueue), inputs.expected()), "bound last");
            say("bound first equal");
        }
    }

    /** One alignment, the GEMMs of bank and host apart, one sum. */
    private void compareParts(DeviceBank bank, int[] rowOfExpert) {
        Inputs inputs = new Inputs(5);
        int[] inBank = {rowOfExpert[0], -1, rowOfExpert[2]};
        int[] inHost = {-1, 1, -1};
        try (DeviceMoe moe = new DeviceMoe(context, shape, 5, stream);
                MoeLaunch first = moe.bindAligned(inputs.call(bank.view(), inBank));
                MoeLaunch second =
                        moe.bindAligned(inputs.call(new RowView(source.deviceRow(1), shape.row(), true), inHost))) {
            short[] actual = inputs.run(queue -> {
                first.enqueueAlign(queue);
                second.enqueueGemms(queue);
                first.enqueueGemms(queue);
                first.enqueueSum(queue);
            });
            require(Arrays.equals(actual, inputs.expected()), "parts");
            say("in parts equal");
        }
    }

    private void compareCopies(DeviceBank bank) {
        int[] copies = {2, 3, 0, 1}; // expert, row
        DeviceBuffer plan = DeviceBuffer.holding(context, stream, KernelLayouts.STEP_OUTPUT.bytes(), host -> {
            host.putInt(0, 1).putInt(Integer.BYTES, 1);
            for (int i = 0; i < copies.length; i++) {
                host.putInt(KernelLayouts.STEP_OUTPUT.offset("copies") + i * Integer.BYTES, copies[i]);
            }
        });
        try (RowCopier copier = new RowCopier(context, source, bank, 3, stream);
                RowCopier.Launch launch = copier.bind(0, plan.address());
                PinnedSlab row = new PinnedSlab(context, shape.row().rowBytes())) {
            launch.enqueue(stream);
            for (int i = 0; i < copies.length; i += 2) {
                bank.copyOut(copies[i + 1], row, stream);
                stream.synchronise("read a row");
                require(row.buffer().mismatch(source.row(0, copies[i])) == -1, "row " + copies[i + 1]);
            }
            bank.copyOut(4, row, stream);
            stream.synchronise("read a row");
            require(row.buffer().mismatch(source.row(1, 0)) == -1, "the row beside");
            say("copied rows equal");
        }
    }

    /** A seeded call of layer 1, some of whose lanes carry no expert. */
    private final class Inputs {
        private final int tokens;
        private final short[] activations;
        private final int[] ids;
        private final float[] weights;
        private final DeviceBuffer out;

        Inputs(int tokens) {
            this.tokens = tokens;
            Random random = new Random(tokens);
            activations = new short[tokens * shape.row().hidden()];
            for (int i = 0; i < activations.length; i++) {
                activations[i] = shape.activations().fromFloat((float) random.nextGaussian());
            }
            ids = random.ints(shape.lanes(tokens), 0, shape.experts()).toArray();
            weights = new float[ids.length];
            for (int lane = 0; lane < ids.length; lane++) {
                weights[lane] = random.nextFloat();
                if (random.nextInt(8) == 0) {
                    ids[lane] = -1;
                }
            }
            out = new DeviceBuffer(context, 2L * activations.length);
        }

        short[] expected() {
            return expected.forward(1, activations, ids, weights);
        }

        MoeCall call(RowView rows, int[] rowOfExpert) {
            int[] rowOfLane = Arrays.stream(ids)
                    .map(expert -> expert < 0 ? Integer.MIN_VALUE : rowOfExpert[expert])
                    .toArray();
            return new MoeCall(
                    tokens,
                    device(2L * activations.length, at -> at.asShortBuffer().put(activations)),
                    device(4L * ids.length, at -> at.asIntBuffer().put(ids)),
                    device(4L * ids.length, at -> at.asIntBuffer().put(rowOfLane)),
                    device(4L * rowOfExpert.length, at -> at.asIntBuffer().put(rowOfExpert)),
                    device(4L * weights.length, at -> at.asFloatBuffer().put(weights)),
                    alphas.address(1),
                    rows,
                    out.address());
        }

        /** Not -1 where the lane's expert is this one. */
        long missRows(int expert) {
            int[] rows = Arrays.stream(ids).map(id -> id == expert ? 0 : -1).toArray();
            return device(4L * ids.length, at -> at.asIntBuffer().put(rows));
        }

        short[] run(Consumer<CudaStream> work) {
            work.accept(stream);
            try (PinnedSlab host = new PinnedSlab(context, out.bytes())) {
                out.download(0, host, 0, out.bytes(), stream);
                stream.synchronise("run a call");
                short[] result = new short[activations.length];
                host.buffer().asShortBuffer().get(result);
                return result;
            }
        }
    }

    private long device(long bytes, Consumer<ByteBuffer> fill) {
        return DeviceBuffer.holding(context, stream, bytes, fill).address();
    }

    private static String refusal(Runnable call) {
        try {
            call.run();
        } catch (IllegalArgumentException refused) {
            return refused.getMessage();
        }
        throw new AssertionError("nothing was refused");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + " differ");
        }
    }
}
