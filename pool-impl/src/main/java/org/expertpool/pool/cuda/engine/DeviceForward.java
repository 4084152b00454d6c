package org.expertpool.pool.cuda.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaGraph;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.PinnedSlab;

/**
 * Forwards over all layers with routing from a tape, in honest order: a layer's routing is read by a kernel that depends
 * by data on the output of the layer before, unless it is asked for ahead. Inputs are seeded, standard normal, and fixed by
 * layer.
 */
public final class DeviceForward implements AutoCloseable {
    private static final long MOST_UPLOAD_BYTES = 64L << 20;

    private final DeviceModel model;
    private final CallMemory memory;
    private final LayerCalls calls;
    private final RestWork rest;
    private final RouteReplay routes;
    private final DecodeGraph mode;
    private final List<CudaGraph> graphs = new ArrayList<>(); // none; one a layer; or one

    /** Prepares, warms up and, if asked, captures; with the gate closed, if the engine is a pool. */
    public DeviceForward(DeviceModel model, LayerEngine engine, ForwardSpec spec) {
        if (spec.mode() == DecodeGraph.PIECEWISE && spec.rest().isNothing()) {
            throw new BadInputException(
                    "graph mode is piecewise, expected another without the dense stand-in: a graph around nothing");
        }
        if (spec.reading() == RouteReplay.Reading.AHEAD && !spec.rest().isNothing()) {
            throw new BadInputException(
                    "reading is AHEAD, expected ALL or FIRST_TOKEN beside a rest that is not nothing");
        }
        this.model = model;
        mode = spec.mode();
        try (CudaContext.Attempt all = model.context().attempt()) {
            memory = new CallMemory(
                    model, spec.tokens(), spec.inputs(), spec.reading().calls(model.layers()));
            upload(spec.seed());
            calls = engine.bind(memory);
            rest = new RestWork(model, memory, spec.rest());
            routes = new RouteReplay(
                    model, engine, calls, memory, spec.tape(), spec.hashSlots(), spec.reading(), rest::digest);
            for (int layer = 0; layer < model.layers(); layer++) {
                enqueueBetween(layer, model.stream());
                calls.enqueue(layer, model.stream());
            }
            routes.finish("warm up engine " + engine.name());
            capture();
            reset();
            all.succeeded();
        }
    }

    private void upload(long seed) {
        Random random = new Random(seed);
        long bytes = memory.outputBytes() * memory.slots(); // may be more than one slab holds
        try (PinnedSlab host = new PinnedSlab(model.context(), Math.min(bytes, MOST_UPLOAD_BYTES))) {
            for (long at = 0; at < bytes; at += host.bytes()) {
                int part = (int) Math.min(host.bytes(), bytes - at);
                for (int i = 0; i < part; i += Short.BYTES) {
                    host.buffer().putShort(i, model.shape().activations().fromFloat((float) random.nextGaussian()));
                }
                memory.memory().upload(memory.activationsAt(0) + at, host, 0, part, model.stream());
                model.stream().synchronise("upload the inputs");
            }
        }
    }

    private void capture() {
        if (mode == DecodeGraph.FULL_DECODE) {
            graphs.add(CudaGraph.capture(model.context(), model.stream(), () -> {
                for (int layer = 0; layer < model.layers(); layer++) {
                    enqueueBetween(layer, model.stream());
                    calls.enqueue(layer, model.stream());
                }
            }));
        }
        for (int layer = 0; mode == DecodeGraph.PIECEWISE && layer < model.layers(); layer++) {
            int captured = layer;
            graphs.add(
                    CudaGraph.capture(model.context(), model.stream(), () -> enqueueBetween(captured, model.stream())));
        }
    }

    /** All of a layer that is not its experts. */
    private void enqueueBetween(int layer, CudaStream stream) {
        rest.enqueue(layer, stream);
        routes.enqueue(layer, stream);
    }

    /** How many tokens of KV cache each layer of the next forwards reads, where a stand-in reads one. */
    public void setContext(long tokens) {
        rest.setContext(tokens, model.stream());
    }

    /** Starts the tape again. Placement stays as it is. */
    public void reset() {
        routes.reset();
    }

    /** Enqueues forwards; nothing is waited for. */
    public void enqueue(int forwards) {
        for (int forward = 0; forward < forwards; forward++) {
            if (mode == DecodeGraph.FULL_DECODE) {
                graphs.get(0).launch(model.stream());
            } else {
                enqueueLayers();
            }
            calls.endForward(model.stream());
        }
    }

    private void enqueueLayers() {
        for (int layer = 0; layer < model.layers(); layer++) {
            if (mode == DecodeGraph.PIECEWISE) {
                graphs.get(layer).launch(model.stream());
            } else {
                enqueueBetween(layer, model.stream());
            }
            calls.enqueue(layer, model.stream());
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
        try (Marks marks = new Marks(new ArrayList<>())) {
            for (int mark = 0; mark <= forwards; mark++) {
                marks.events().add(new CudaEvent(model.context()));
            }
            marks.events().get(0).record(model.stream());
            for (int forward = 0; forward < forwards; forward++) {
                enqueue(1);
                marks.events().get(forward + 1).record(model.stream());
            }
            routes.finish("time " + forwards + " forwards");
            double[] micros = new double[forwards];
            Arrays.setAll(
                    micros,
                    i -> marks.events()
                            .get(i + 1)
                            .microsecondsSince(marks.events().get(i)));
            return micros;
        }
    }

    /** Events between the forwards that are timed. */
    private record Marks(List<CudaEvent> events) implements AutoCloseable {
        @Override
        public void close() {
            events.forEach(CudaEvent::close);
        }
    }

    /** What the last {@link #run} or {@link #time} saw. */
    public RouteReplay routes() {
        return routes;
    }

    @Override
    public void close() {
        graphs.forEach(CudaGraph::close);
        routes.close();
        rest.close();
        calls.close();
        memory.close();
    }
}
