package org.expertpool.pool.cuda.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;

/** What the child JVM of {@link DeviceModelTest} runs: the router and the stand-ins through their bindings. */
final class EmulatedModel {
    private EmulatedModel() {}

    public static void main(String[] arguments) {
        try (CudaContext context = CudaContext.open();
                CudaStream stream = new CudaStream(context)) {
            route(context, stream, new RouterTwin(5, 2 * RouterTwin.VECTOR, 20, 3, 1));
            route(context, stream, new RouterTwin(1, 264, 300, 10, 2));
            standIns(context, stream);
            DeviceSpeed speed = DeviceSpeed.measure(context, DeviceSpeed.Effort.LEAST);
            // The emulated events are 250 microseconds apart.
            System.out.printf(
                    Locale.ROOT,
                    "speeds %.6f %.6f %.6f %.6f%n",
                    speed.hostToDevice(),
                    speed.deviceToHost(),
                    speed.zeroCopy(),
                    speed.memoryRead());
            require(speed.launchMicros() > 0, "launch time");
            refused(() -> new Router(context, 0, 64, 8, 2, 0, 0, 0, 0));
            refused(() -> new Router(context, 1, 12, 8, 2, 0, 0, 0, 0));
            refused(() -> new Router(context, 1, 64, 4097, 2, 0, 0, 0, 0));
            refused(() -> new Router(context, 1, 64, 128, 65, 0, 0, 0, 0));
            refused(() -> StandIn.dense(context, 0, 24, 0, 0, stream));
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    private static void refused(Supplier<AutoCloseable> call) {
        try {
            throw new AssertionError("took a bad shape: " + call.get());
        } catch (BadInputException refused) {
            System.out.println(refused.getMessage());
        }
    }

    private static void route(CudaContext context, CudaStream stream, RouterTwin twin) {
        int lanes = twin.tokens() * twin.topK();
        try (DeviceBuffer activations = holding(context, stream, twin.activations());
                DeviceBuffer matrix = holding(context, stream, twin.matrix());
                DeviceBuffer ids = new DeviceBuffer(context, (long) Integer.BYTES * lanes);
                DeviceBuffer weights = new DeviceBuffer(context, (long) Float.BYTES * lanes);
                Router router = new Router(
                        context,
                        twin.tokens(),
                        twin.hidden(),
                        twin.experts(),
                        twin.topK(),
                        activations.address(),
                        matrix.address(),
                        ids.address(),
                        weights.address())) {
            for (int repeat = 0; repeat < 2; repeat++) {
                router.enqueue(stream);
            }
            ByteBuffer id = read(context, stream, ids);
            ByteBuffer weight = read(context, stream, weights);
            RouterTwin.Routing expected = twin.route();
            for (int lane = 0; lane < lanes; lane++) {
                require(id.getInt(lane * Integer.BYTES) == expected.ids[lane], "ids");
                require(weight.getFloat(lane * Float.BYTES) == expected.weights[lane], "weights");
            }
        }
        System.out.println("router equal");
    }

    private static void standIns(CudaContext context, CudaStream stream) {
        Random random = new Random(3);
        byte[] bytes = new byte[16 * 300];
        random.nextBytes(bytes);
        try (DeviceBuffer memory = holding(context, stream, bytes.length, host -> host.put(bytes));
                DeviceBuffer after = holding(context, stream, new short[] {1, 2, 3});
                DeviceBuffer context3 = holding(context, stream, Long.BYTES, host -> host.putLong(3));
                StandIn dense = StandIn.dense(context, memory.address(), 3 * 64, after.address(), 3, stream);
                StandIn other = StandIn.dense(context, memory.address(), 3 * 64 + 16, after.address(), 3, stream);
                StandIn keyValues = StandIn.keyValues(
                        context, memory.address(), 64, context3.address(), 75, after.address(), 3, stream)) {
            dense.enqueue(stream);
            other.enqueue(stream);
            keyValues.enqueue(stream);
            long digest = digest(context, stream, dense);
            require(digest == expectedDigest(bytes, 3 * 64, new short[] {1, 2, 3}), "digest");
            require(digest == digest(context, stream, keyValues), "digest of a context of 3 tokens");
            require(digest != digest(context, stream, other), "digest of more bytes");
        }
        System.out.println("stand-ins equal");
    }

    /** Sum of 64-bit words and of the output's values times a prime, spread. */
    private static long expectedDigest(byte[] bytes, int count, short[] after) {
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long sum = 0;
        for (int at = 0; at < count; at += Long.BYTES) {
            sum += words.getLong(at);
        }
        for (short value : after) {
            sum += (value & 0xFFFF) * 0x100000001b3L;
        }
        sum = (sum ^ sum >>> 31) * 0x9e3779b97f4a7c15L;
        return sum ^ sum >>> 29;
    }

    private static long digest(CudaContext context, CudaStream stream, StandIn standIn) {
        try (PinnedSlab host = new PinnedSlab(context, Long.BYTES)) {
            standIn.readDigest(host, stream);
            stream.synchronise("read a digest");
            return host.buffer().getLong(0);
        }
    }

    private static DeviceBuffer holding(CudaContext context, CudaStream stream, short[] values) {
        return holding(
                context,
                stream,
                (long) Short.BYTES * values.length,
                host -> host.asShortBuffer().put(values));
    }

    private static DeviceBuffer holding(CudaContext context, CudaStream stream, long bytes, Consumer<ByteBuffer> fill) {
        return DeviceBuffer.holding(context, stream, bytes, fill);
    }

    private static ByteBuffer read(CudaContext context, CudaStream stream, DeviceBuffer from) {
        ByteBuffer copy = ByteBuffer.allocate(Math.toIntExact(from.bytes())).order(ByteOrder.LITTLE_ENDIAN);
        try (PinnedSlab host = new PinnedSlab(context, from.bytes())) {
            from.download(0, host, 0, from.bytes(), stream);
            stream.synchronise("read back");
            copy.put(host.buffer()).flip();
        }
        return copy;
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + " differ");
        }
    }
}
