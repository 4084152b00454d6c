package org.expertpool.pool.cuda.convert;

import static org.expertpool.pool.cuda.layout.ConvertLayouts.CONVERT_PARAMS;
import static org.expertpool.pool.cuda.layout.ConvertLayouts.CONVERT_THREADS;
import static org.expertpool.pool.cuda.layout.ConvertLayouts.PROJECTIONS;
import static org.expertpool.pool.cuda.layout.ConvertLayouts.SCALE_COUNTS;
import static org.expertpool.pool.cuda.layout.ConvertLayouts.SCALE_VALUES;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.cuda.CudaContext;
import org.expertpool.pool.cuda.CudaStream;
import org.expertpool.pool.cuda.DeviceBuffer;
import org.expertpool.pool.cuda.Kernel;
import org.expertpool.pool.cuda.KernelArgument;
import org.expertpool.pool.cuda.PinnedSlab;
import org.expertpool.pool.marlin.ScaleCodes;
import org.expertpool.pool.marlin.ScaleTable;

/**
 * Turns the plain experts of a layer, in device memory, into the rows that {@link ExpertPacker} makes of them on the
 * host, byte for byte. The device counts scales and moves bytes; what a scale becomes is decided here, by the same code.
 */
public final class DeviceConversion implements AutoCloseable {
    private static final int TILE_ROWS = 64;
    private static final int TILE_K = 16 * 16;
    private static final List<String> NAMES = List.of("gate", "up", "down");

    private final ExpertRowLayout layout;
    private final ExpertPacker packer;
    private final int maxExperts;
    private final DeviceBuffer counts; // [experts, 3] ScaleCounts
    private final DeviceBuffer codes; // u8 [experts, 3, 128]
    private final PinnedSlab countsHost;
    private final PinnedSlab codesHost;
    private final KernelArgument argument;
    private final Kernel count;
    private final Kernel convert;

    /** @param maxExperts most experts of one call */
    public DeviceConversion(CudaContext context, ExpertRowLayout layout, ExpertPacker packer, int maxExperts) {
        this.layout = layout;
        this.packer = packer;
        this.maxExperts = maxExperts;
        long tables = (long) maxExperts * PROJECTIONS;
        counts = new DeviceBuffer(context, tables * SCALE_COUNTS.bytes());
        codes = new DeviceBuffer(context, tables * SCALE_VALUES);
        countsHost = new PinnedSlab(context, counts.bytes());
        codesHost = new PinnedSlab(context, codes.bytes());
        argument = new KernelArgument(context, CONVERT_PARAMS);
        count = context.kernel("smxx_scale_counts", argument);
        convert = context.kernel("smxx_expert_rows", argument);
        argument.struct()
                .putLong(CONVERT_PARAMS.offset("counts"), counts.address())
                .putLong(CONVERT_PARAMS.offset("codes"), codes.address())
                .putInt(CONVERT_PARAMS.offset("hidden"), layout.hidden())
                .putInt(CONVERT_PARAMS.offset("width"), layout.expertWidth());
    }

    /**
     * Enqueues the conversion of so many experts, after waiting for the counts of their scales.
     *
     * @param layer named in errors
     * @param plain device address of {@code [experts]} plain rows, as {@code PlainExpert.putPlain} writes them
     * @param globalScales {@code [experts, 3]}: gate, up, down
     * @param rows device address of {@code [experts]} rows, other memory
     * @return alphas and loss of each expert; the rows are there once the stream has been waited for
     * @throws BadInputException scales that are negative or NaN, or an alpha outside fp32
     */
    public List<ExpertPacker.Packed> convert(
            int layer, int experts, long plain, float[] globalScales, long rows, CudaStream stream) {
        if (experts < 1 || experts > maxExperts || globalScales.length != experts * PROJECTIONS) {
            throw new IllegalArgumentException(experts + " experts with " + globalScales.length
                    + " global scales, expected 1 to " + maxExperts + " with 3 each");
        }
        argument.struct()
                .putLong(CONVERT_PARAMS.offset("plain"), plain)
                .putLong(CONVERT_PARAMS.offset("rows"), rows)
                .putInt(CONVERT_PARAMS.offset("experts"), experts);
        int tables = experts * PROJECTIONS;
        count.launch(tables, CONVERT_THREADS, stream);
        counts.download(0, countsHost, 0, (long) tables * SCALE_COUNTS.bytes(), stream);
        stream.synchronise("count the scales of layer " + layer);
        List<ExpertPacker.Packed> packed = new ArrayList<>();
        for (int expert = 0; expert < experts; expert++) {
            packed.add(pack(layer, expert, globalScales));
        }
        codes.upload(0, codesHost, 0, (long) tables * SCALE_VALUES, stream);
        convert.launch(Math.multiplyExact(experts, tiles()), CONVERT_THREADS, stream);
        return packed;
    }

    private ExpertPacker.Packed pack(int layer, int expert, float[] globalScales) {
        ScaleTable[] tables = new ScaleTable[PROJECTIONS];
        float[] alphas = new float[PROJECTIONS];
        for (int projection = 0; projection < PROJECTIONS; projection++) {
            int index = expert * PROJECTIONS + projection;
            String where = "layer %d expert %d %s: ".formatted(layer, expert, NAMES.get(projection));
            tables[projection] = table(index, where);
            codesHost.buffer().put(index * SCALE_VALUES, tables[projection].codes());
            try {
                alphas[projection] = packer.type().alpha(globalScales[index], tables[projection].log2Factor());
            } catch (BadInputException refused) {
                throw new BadInputException(where + refused.getMessage(), refused);
            }
        }
        return new ExpertPacker.Packed(
                alphas[0],
                alphas[1],
                alphas[2],
                tables[0].loss().plus(tables[1].loss()).plus(tables[2].loss()));
    }

    private ScaleTable table(int index, String where) {
        ByteBuffer struct = countsHost.slice(index * SCALE_COUNTS.bytes(), SCALE_COUNTS.bytes());
        long firstBad = struct.getLong(SCALE_COUNTS.offset("firstBad"));
        if (firstBad != -1) {
            throw new BadInputException(
                    where + ScaleCodes.refused(firstBad >>> 8, (byte) firstBad).getMessage());
        }
        int[] values = new int[SCALE_VALUES];
        for (int value = 0; value < SCALE_VALUES; value++) {
            values[value] = struct.getInt(SCALE_COUNTS.offset("counts") + value * Integer.BYTES);
        }
        return ScaleTable.of(values, packer.rule(), packer.type());
    }

    /** Blocks that one expert takes: weights and scales of both matrices. */
    private int tiles() {
        return tiles(2 * layout.expertWidth(), layout.hidden()) + tiles(layout.hidden(), layout.expertWidth());
    }

    private static int tiles(int n, int k) {
        return n / TILE_ROWS * ((k + TILE_K - 1) / TILE_K + 1);
    }

    @Override
    public void close() {
        argument.close();
        codesHost.close();
        countsHost.close();
        codes.close();
        counts.close();
    }
}
