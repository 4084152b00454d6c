package org.expertpool.pool.cuda;

import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_CONTROLS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_STATE;
import static org.expertpool.pool.cuda.layout.KernelLayouts.PLAN_TABLES;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import org.expertpool.pool.plan.PoolConfig;
import org.expertpool.pool.plan.PoolControls;
import org.expertpool.pool.plan.PoolTables;
import org.expertpool.pool.plan.TableImage;

/** A pool's placement tables, state and controls in one device allocation, with a pinned copy for transfers. */
public final class DeviceTables implements AutoCloseable {
    private static final int ALIGNMENT = 16;

    private final PoolConfig config;
    private final CudaStream stream;
    private final DeviceBuffer device;
    private final PinnedSlab host;
    private final int hotRowAt;
    private final int coldRowAt;
    private final int missCountAt;
    private final int rowKeyAt;
    private final int stateAt;
    private final int controlsAt;

    /** The memory alone; {@link #upload} and {@link #controls} fill it. */
    public DeviceTables(CudaContext context, PoolConfig config, CudaStream stream) {
        this.config = config;
        this.stream = stream;
        long keyBytes = (long) Integer.BYTES * config.keys();
        long rowBytes = (long) Integer.BYTES * config.bankRows();
        long total = 6L * ALIGNMENT + 3 * keyBytes + 3 * rowBytes + PLAN_STATE.bytes() + PLAN_CONTROLS.bytes();
        try (CudaContext.Attempt all = context.attempt()) {
            host = new PinnedSlab(context, total); // refuses 2 GiB and more, so that offsets below fit an int
            device = new DeviceBuffer(context, total);
            hotRowAt = aligned(2 * rowBytes); // rowUse comes first
            coldRowAt = aligned(hotRowAt + keyBytes);
            missCountAt = aligned(coldRowAt + keyBytes);
            rowKeyAt = aligned(missCountAt + keyBytes);
            stateAt = aligned(rowKeyAt + rowBytes);
            controlsAt = aligned(stateAt + PLAN_STATE.bytes());
            host.buffer().put(stateAt, new byte[PLAN_STATE.bytes()]);
            all.succeeded();
        }
    }

    /** Writes a PlanTables struct that points here. */
    public void describe(ByteBuffer struct) {
        struct.putLong(PLAN_TABLES.offset("hotRow"), device.address() + hotRowAt);
        struct.putLong(PLAN_TABLES.offset("coldRow"), device.address() + coldRowAt);
        struct.putLong(PLAN_TABLES.offset("rowKey"), device.address() + rowKeyAt);
        struct.putLong(PLAN_TABLES.offset("rowUse"), device.address());
        struct.putLong(PLAN_TABLES.offset("missCount"), device.address() + missCountAt);
        struct.putLong(PLAN_TABLES.offset("state"), device.address() + stateAt);
        struct.putLong(PLAN_TABLES.offset("controls"), device.address() + controlsAt);
        struct.putInt(PLAN_TABLES.offset("layers"), config.layers());
        struct.putInt(PLAN_TABLES.offset("experts"), config.experts());
        struct.putInt(PLAN_TABLES.offset("poolRows"), config.poolRows());
        struct.putInt(PLAN_TABLES.offset("rows"), config.bankRows());
    }

    /** Device address of a table, by its name in PlanTables. */
    public long address(String table) {
        ByteBuffer struct = ByteBuffer.allocate(PLAN_TABLES.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        describe(struct);
        return struct.getLong(PLAN_TABLES.offset(table));
    }

    /** Replaces placement and counters; where an error was found stays. */
    public void upload(PoolTables tables) {
        tables.write(image());
        ByteBuffer state = host.slice(stateAt, PLAN_STATE.bytes());
        state.putLong(PLAN_STATE.offset("clock"), tables.clock());
        state.putInt(PLAN_STATE.offset("forwards"), tables.forwards());
        state.putInt(PLAN_STATE.offset("error"), tables.error());
        device.upload(0, host, 0, controlsAt, stream);
        stream.synchronise("upload the tables");
    }

    /** Everything as it is after the work enqueued so far. */
    public PoolTables download() {
        device.download(0, host, 0, controlsAt, stream);
        stream.synchronise("download the tables");
        ByteBuffer state = host.slice(stateAt, PLAN_STATE.bytes());
        PoolTables tables = new PoolTables(config);
        tables.read(
                image(),
                state.getLong(PLAN_STATE.offset("clock")),
                state.getInt(PLAN_STATE.offset("forwards")),
                state.getInt(PLAN_STATE.offset("error")));
        return tables;
    }

    /** Replaces the controls; work enqueued later sees them. */
    public void controls(PoolControls next) {
        ByteBuffer struct = host.slice(controlsAt, PLAN_CONTROLS.bytes());
        struct.put(new byte[PLAN_CONTROLS.bytes()]);
        struct.putInt(PLAN_CONTROLS.offset("gate"), next.gate());
        struct.putInt(PLAN_CONTROLS.offset("promoteLimit"), next.promoteLimit());
        struct.putInt(PLAN_CONTROLS.offset("promoteInterval"), next.promoteInterval());
        struct.putInt(PLAN_CONTROLS.offset("promoteMinMisses"), next.promoteMinMisses());
        struct.putInt(PLAN_CONTROLS.offset("protectRecent"), next.protectRecent());
        device.upload(controlsAt, host, controlsAt, PLAN_CONTROLS.bytes(), stream);
        stream.synchronise("upload the controls");
    }

    /** Layer and lane of the first invalid routing since the error was last cleared, after the work enqueued so far. */
    public Optional<InvalidLane> invalidLane(String doing) {
        device.download(stateAt, host, stateAt, PLAN_STATE.bytes(), stream);
        stream.synchronise(doing);
        ByteBuffer state = host.slice(stateAt, PLAN_STATE.bytes());
        return state.getInt(PLAN_STATE.offset("error")) == 0
                ? Optional.empty()
                : Optional.of(new InvalidLane(
                        state.getInt(PLAN_STATE.offset("errorLayer")), state.getInt(PLAN_STATE.offset("errorLane"))));
    }

    /** Where routing was invalid. */
    public record InvalidLane(int layer, int lane) {}

    public void clearError() {
        int at = stateAt + PLAN_STATE.offset("error");
        host.buffer().putInt(at, 0);
        device.upload(at, host, at, Integer.BYTES, stream);
        stream.synchronise("clear the error");
    }

    @Override
    public void close() {
        device.close();
        host.close();
    }

    private TableImage image() {
        int keyBytes = Integer.BYTES * config.keys();
        int rowBytes = Integer.BYTES * config.bankRows();
        return new TableImage(
                host.slice(hotRowAt, keyBytes).asIntBuffer(),
                host.slice(coldRowAt, keyBytes).asIntBuffer(),
                host.slice(rowKeyAt, rowBytes).asIntBuffer(),
                host.slice(0, 2 * rowBytes).asLongBuffer(),
                host.slice(missCountAt, keyBytes).asIntBuffer());
    }

    private static int aligned(long bytes) {
        return Math.toIntExact((bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    }
}
