package org.expertpool.pool.cuda.engine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.expertpool.pool.bank.TokenTable;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaException;
import org.expertpool.pool.cuda.CudaGraph;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Policies;
import org.expertpool.pool.policy.PolicySetup;
import org.expertpool.pool.policy.Scope;

/** What the child JVM of {@link TokenRowsTest} runs: rows of tokens on their way to the device. */
final class EmulatedTokenRows {
    private static final int ROWS = 1000;
    private static final int ROW_BYTES = 300;
    private static final int TOKENS = 2;
    private static final int FORWARDS = 5;

    private final ForwardFixture fixture;
    private final DeviceModel model;
    private final TokenTable table;

    private EmulatedTokenRows(CudaContext context, Path file) throws IOException {
        fixture = new ForwardFixture(context);
        model = fixture.model;
        table = TokenTable.create(file, ROWS, ROW_BYTES);
        for (int token = 0; token < TOKENS * FORWARDS; token++) {
            table.write(row(token), bytes(token));
        }
    }

    public static void main(String[] arguments) throws IOException {
        try (CudaContext context = CudaContext.open()) {
            EmulatedTokenRows program = new EmulatedTokenRows(context, Path.of(arguments[0]));
            for (TokenRowsEngine.Gathering gathering : TokenRowsEngine.Gathering.values()) {
                program.rowsOfEveryForward(gathering, false);
                program.rowsOfEveryForward(gathering, true);
                program.outputs(gathering);
                System.out.println(gathering + ": rows and outputs as expected");
            }
        } catch (CudaException failure) {
            System.out.println(failure.getMessage());
        }
    }

    private static long row(long token) {
        return (token * 389 + 17) % ROWS;
    }

    private static byte[] bytes(int token) {
        byte[] bytes = new byte[ROW_BYTES];
        new Random(token).nextBytes(bytes);
        return bytes;
    }

    private void rowsOfEveryForward(TokenRowsEngine.Gathering gathering, boolean inGraph) {
        try (LayerEngine resident = FixedEngine.resident(model);
                CallMemory memory = new CallMemory(model, TOKENS, 1);
                TokenRowsEngine.Calls calls =
                        new TokenRowsEngine(model, resident, table, EmulatedTokenRows::row, gathering).bind(memory);
                PinnedSlab back = new PinnedSlab(model.context(), (long) TOKENS * ROW_BYTES)) {
            CudaGraph graph = inGraph ? CudaGraph.capture(model.context(), model.stream(), () -> layers(calls)) : null;
            for (int forward = 0; forward < FORWARDS; forward++) {
                if (inGraph) {
                    graph.launch(model.stream());
                } else {
                    layers(calls);
                }
                if (gathering == TokenRowsEngine.Gathering.BEFORE_FORWARD) {
                    require(calls, back, forward); // the next forward's come behind this one
                    calls.endForward(model.stream());
                } else {
                    calls.endForward(model.stream());
                    require(calls, back, forward);
                }
            }
            if (inGraph) {
                graph.close();
            }
        }
    }

    private void layers(LayerCalls calls) {
        for (int layer = 0; layer < model.layers(); layer++) {
            calls.enqueue(layer, model.stream());
        }
    }

    private void require(TokenRowsEngine.Calls calls, PinnedSlab back, int forward) {
        calls.rows().download(0, back, 0, back.bytes(), model.stream());
        model.stream().synchronise("read the rows back");
        for (int token = 0; token < TOKENS; token++) {
            byte[] actual = new byte[ROW_BYTES];
            back.buffer().get(token * ROW_BYTES, actual);
            if (!Arrays.equals(actual, bytes(forward * TOKENS + token))) {
                throw new AssertionError("forward " + forward + ", token " + token + ": another row");
            }
        }
    }

    /** Whole forwards of engines that wait for the host in other ways, too. */
    private void outputs(TokenRowsEngine.Gathering gathering) {
        RoutingTape tape = ForwardFixture.tape(TOKENS);
        PolicySetup setup =
                PolicySetup.of(fixture.config(3), Scope.GLOBAL, Initial.FIRST_N, PoolControls.DEFAULTS.withGate(true));
        for (DecodeGraph mode : List.of(DecodeGraph.NONE, DecodeGraph.FULL_DECODE)) {
            try (LayerEngine heat = new HeatEngine(model, Policies.named("heat.exchange(0.9,2,1,2)"), setup);
                    DeviceForward forward = new DeviceForward(
                            model,
                            new TokenRowsEngine(model, heat, table, EmulatedTokenRows::row, gathering),
                            ForwardSpec.of(TOKENS, tape, ForwardFixture.INPUTS, ForwardFixture.SEED, FORWARDS, mode))) {
                RouteReplay routes = forward.run(FORWARDS - 1);
                for (int i = 0; i < FORWARDS - 1; i++) {
                    if (routes.hash(i) != fixture.expectedHash(tape, i % tape.forwards())) {
                        throw new AssertionError(gathering + ", " + mode + ", forward " + i + ": another output");
                    }
                }
            }
        }
    }
}
