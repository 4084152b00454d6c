package org.expertpool.pool.cuda.engine;

import java.lang.invoke.VarHandle;
import java.util.function.LongUnaryOperator;
import org.expertpool.pool.bank.TokenTable;
import org.expertpool.pool.cuda.CudaEvent;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.lifecycle.RowCheck;

/**
 * Another engine's forwards, each with its tokens' embedding rows brought from a host table before the second layer, which
 * is the first that may use them. A token is known when the forward before has ended. The engine stays the caller's.
 */
public final class TokenRowsEngine implements LayerEngine {
    /** When rows are gathered on the host. */
    public enum Gathering {
        /** Between two forwards, which the device waits for. */
        BEFORE_FORWARD,
        /**
         * While the forward's first layer runs: a captured graph waits for a flag that the host sets, launched kernel by
         * kernel the host does it in between.
         */
        DURING_FIRST_LAYER
    }

    private static final int FLAG_BYTES = 256; // the flag, alone in its cache line, comes before the rows
    private static final int READY = 1;
    private static final int TAKEN = 0;

    private final DeviceModel model;
    private final LayerEngine engine;
    private final TokenTable table;
    private final LongUnaryOperator rowOfToken;
    private final Gathering gathering;

    /** @param rowOfToken from a token's number, counted from the first forward on, to its row of the table */
    public TokenRowsEngine(
            DeviceModel model,
            LayerEngine engine,
            TokenTable table,
            LongUnaryOperator rowOfToken,
            Gathering gathering) {
        this.model = model;
        this.engine = engine;
        this.table = table;
        this.rowOfToken = rowOfToken;
        this.gathering = gathering;
    }

    @Override
    public String name() {
        return engine.name();
    }

    @Override
    public long bankBytes() {
        return engine.bankBytes();
    }

    @Override
    public boolean validates() {
        return engine.validates();
    }

    @Override
    public HostPlans hostPlans() {
        return engine.hostPlans();
    }

    @Override
    public void check(RowCheck rows) {
        engine.check(rows);
    }

    @Override
    public Calls bind(CallMemory memory) {
        return new Calls(memory);
    }

    /** Nothing of its own to free. */
    @Override
    public void close() {}

    /** The engine's calls, and the rows of the forward under way. */
    final class Calls implements LayerCalls {
        private final LayerCalls calls;
        private final int tokens;
        private final PinnedSlab host; // flag, rows
        private final DeviceBuffer rows; // [tokens, rowBytes]
        private final CudaEvent ended; // the forward before
        private long forward;
        private boolean gathered; // of the forward under way

        private Calls(CallMemory memory) {
            tokens = memory.tokens();
            host = new PinnedSlab(model.context(), FLAG_BYTES + (long) tokens * table.rowBytes());
            host.buffer().putInt(0, TAKEN);
            rows = new DeviceBuffer(model.context(), (long) tokens * table.rowBytes());
            ended = CudaEvent.withoutTime(model.context());
            calls = engine.bind(memory);
            if (gathering == Gathering.BEFORE_FORWARD) {
                gather();
                upload(model.stream());
            }
        }

        /** Where the rows are once the first layer has run. */
        DeviceBuffer rows() {
            return rows;
        }

        @Override
        public void enqueue(int layer, CudaStream stream) {
            if (gathering == Gathering.DURING_FIRST_LAYER && layer == Math.min(1, model.layers() - 1)) {
                if (stream.isCapturing()) {
                    stream.waitForValue(host, READY);
                    upload(stream);
                    stream.writeValue(host, TAKEN);
                    gathered = false; // a warm-up before was none of the graph's forwards
                } else {
                    ended.await("learn the next token");
                    gather();
                    upload(stream);
                    gathered = true;
                }
            }
            calls.enqueue(layer, stream);
        }

        @Override
        public void endForward(CudaStream stream) {
            if (gathering == Gathering.DURING_FIRST_LAYER && !gathered) {
                ended.await("learn the next token");
                gather();
                VarHandle.releaseFence(); // the rows before the flag
                host.buffer().putInt(0, READY);
            }
            gathered = false;
            forward++;
            calls.endForward(stream);
            ended.record(stream);
            if (gathering == Gathering.BEFORE_FORWARD) {
                ended.await("learn the next token");
                gather();
                upload(stream);
            }
        }

        private void gather() {
            for (int token = 0; token < tokens; token++) {
                table.read(
                        rowOfToken.applyAsLong(forward * tokens + token),
                        host.buffer(),
                        FLAG_BYTES + token * table.rowBytes());
            }
        }

        private void upload(CudaStream stream) {
            rows.upload(0, host, FLAG_BYTES, rows.bytes(), stream);
        }

        @Override
        public long plan(int layer) {
            return calls.plan(layer);
        }

        @Override
        public void close() {
            calls.close();
            ended.close();
            rows.close();
            host.close();
        }
    }
}
