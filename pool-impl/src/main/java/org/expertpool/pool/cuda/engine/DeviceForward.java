package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaGraph;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.format.Bf16;

/**
 * Forwards over all layers with routing from a tape, in honest order: a layer's routing is read by a kernel that depends
 * by data on the output of the layer before. Inputs are seeded, standard normal, and fixed by layer.
 */
public final class DeviceForward implements AutoCloseable {
    private final DeviceModel model;
    private final CallMemory memory;
    private final LayerCalls calls;
    private final RouteReplay routes;
    private final CudaGraph graph; // null where every kernel is launched

    /** As below, reading and hashing all of every output. */
    public DeviceForward(
            DeviceModel model,
            LayerEngine engine,
            int tokens,
            RoutingTape tape,
            int inputs,
            long seed,
            int hashSlots,
            DecodeGraph mode) {
        this(model, engine, tokens, tape, inputs, seed, hashSlots, RouteReplay.Reading.ALL, mode);
    }

    /**
     * Prepares, warms up and, if asked, captures; with the gate closed, if the engine is a pool.
     *
     * @param inputs different inputs; layer l gets number {@code l % inputs}
     * @param hashSlots forwards whose hashes are kept
     */
    public DeviceForward(
            DeviceModel model,
            LayerEngine engine,
            int tokens,
            RoutingTape tape,
            int inputs,
            long seed,
            int hashSlots,
            RouteReplay.Reading reading,
            DecodeGraph mode) {
        this.model = model;
        memory = new CallMemory(model, tokens, inputs);
        upload(seed);
        calls = engine.bind(memory);
        routes = new RouteReplay(model, engine, calls, memory, tape, hashSlots, reading);
        enqueue(model.stream());
        routes.finish("warm up engine " + engine.name());
        graph = mode == DecodeGraph.NONE
                ? null
                : CudaGraph.capture(model.context(), model.stream(), () -> enqueue(model.stream()));
        reset();
    }

    private void upload(long seed) {
        Random random = new Random(seed);
        try (PinnedSlab host = new PinnedSlab(model.context(), memory.outputBytes() * memory.slots())) {
            while (host.buffer().hasRemaining()) {
                host.buffer().putShort(Bf16.fromFloat((float) random.nextGaussian()));
            }
            memory.memory().upload(memory.activationsAt(0), host, 0, host.bytes(), model.stream());
            model.stream().synchronise("upload the inputs");
        }
    }

    private void enqueue(CudaStream stream) {
        for (int layer = 0; layer < model.layers(); layer++) {
            routes.enqueue(layer, stream);
            calls.enqueue(layer, stream);
        }
    }

    /** Starts the tape again. Placement stays as it is. */
    public void reset() {
        routes.reset();
    }

    /** Enqueues forwards; nothing is waited for. */
    public void enqueue(int forwards) {
        for (int forward = 0; forward < forwards; forward++) {
            if (graph == null) {
                enqueue(model.stream());
            } else {
                graph.launch(model.stream());
            }
        }
    }

    /** Runs forwards and waits for them; hashes and counts are then to be had. */
    public RouteReplay run(int forwards) {
        enqueue(forwards);
        routes.finish("run " + forwards + " forwards");
        return routes;
    }

    /** Runs forwards, and returns the time of each on the device in microseconds. */
    public double[] time(int forwards) {
        List<CudaEvent> marks = new ArrayList<>();
        try {
            marks.add(new CudaEvent(model.context()));
            for (int forward = 0; forward < forwards; forward++) {
                marks.add(new CudaEvent(model.context()));
            }
            marks.get(0).record(model.stream());
            for (int forward = 0; forward < forwards; forward++) {
                enqueue(1);
                marks.get(forward + 1).record(model.stream());
            }
            routes.finish("time " + forwards + " forwards");
            double[] micros = new double[forwards];
            Arrays.setAll(micros, i -> marks.get(i + 1).microsecondsSince(marks.get(i)));
            return micros;
        } finally {
            marks.forEach(CudaEvent::close);
        }
    }

    /** What the last {@link #run} or {@link #time} saw. */
    public RouteReplay routes() {
        return routes;
    }

    @Override
    public void close() {
        if (graph != null) {
            graph.close();
        }
        routes.close();
        calls.close();
        memory.close();
    }
}
