package org.expertpool.pool.cuda.engine;

import static org.expertpool.pool.cuda.layout.KernelLayouts.COPY_THREADS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.ROW_COPY_PARAMS;
import static org.expertpool.pool.cuda.layout.KernelLayouts.ROW_PART;

import java.nio.ByteBuffer;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.PinnedSource;

/** The kernel that copies planned rows from the host source's device view into a bank: how many, it reads on the device. */
public final class RowCopier implements AutoCloseable {
    private final CudaContext context;
    private final PinnedSource source;
    private final DeviceBank bank;
    private final DeviceBuffer sourceLayers; // u64 [L]
    private final int blocks;

    /** @param blocks of the fixed grid; some 16 fill a link and leave the other multiprocessors free */
    public RowCopier(CudaContext context, PinnedSource source, DeviceBank bank, int blocks, CudaStream stream) {
        this.context = context;
        this.source = source;
        this.bank = bank;
        this.blocks = blocks;
        sourceLayers = DeviceBuffer.holding(context, stream, (long) Long.BYTES * source.layers(), host -> {
            for (int layer = 0; layer < source.layers(); layer++) {
                host.putLong(source.deviceRow(layer));
            }
        });
    }

    /** The copies of one layer, prepared. */
    public final class Launch implements AutoCloseable {
        private final Kernel kernel;

        private Launch(int layer, long plan) {
            kernel = context.kernel("smxx_row_copy", ROW_COPY_PARAMS.bytes());
            ByteBuffer params = kernel.argument().put(0, new byte[ROW_COPY_PARAMS.bytes()]);
            long rowBytes = source.layout().rowBytes();
            params.putLong(ROW_COPY_PARAMS.offset("plan"), plan);
            params.putLong(ROW_COPY_PARAMS.offset("sourceLayers"), sourceLayers.address());
            params.putLong(ROW_COPY_PARAMS.offset("sourceRowBytes"), rowBytes);
            // Rows are dense in bank and source: one run of bytes.
            int part = ROW_COPY_PARAMS.offset("parts");
            params.putLong(part + ROW_PART.offset("bank"), bank.view().base());
            params.putLong(part + ROW_PART.offset("bankStrideBytes"), rowBytes);
            params.putLong(part + ROW_PART.offset("sourceOffsetBytes"), 0);
            params.putLong(part + ROW_PART.offset("bytes"), rowBytes);
            params.putInt(ROW_COPY_PARAMS.offset("layer"), layer);
            params.putInt(ROW_COPY_PARAMS.offset("partCount"), 1);
        }

        public void enqueue(CudaStream stream) {
            kernel.launch(blocks, COPY_THREADS, stream);
        }

        @Override
        public void close() {
            kernel.close();
        }
    }

    /** @param plan device address of the layer's StepOutput */
    public Launch bind(int layer, long plan) {
        return new Launch(layer, plan);
    }

    @Override
    public void close() {
        sourceLayers.close();
    }
}
