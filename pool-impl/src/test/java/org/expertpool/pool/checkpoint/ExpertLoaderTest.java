package org.expertpool.pool.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.bank.ExpertPacker;
import org.expertpool.pool.bank.ExpertRowLayout;
import org.expertpool.pool.bank.HostSource;
import org.expertpool.pool.bank.SlabSource;
import org.expertpool.pool.checkpoint.CheckpointFixture.Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExpertLoaderTest {
    private static final LayerConversion HOST = new HostConversion(ExpertPacker.DEFAULT);

    @TempDir
    Path folder;

    /** Rows and alphas are those that seeded experts have without any conversion, however the tensors are named. */
    @ParameterizedTest
    @CsvSource({
        "model.layers.%d.mlp.experts.%d., gate_proj, up_proj, down_proj",
        "model.language_model.layers.%d.mlp.experts.%d., gate_proj, up_proj, down_proj",
        "language_model.model.layers.%d.mlp.experts.%d., gate_proj, up_proj, down_proj",
        "model.layers.%d.block_sparse_moe.experts.%d., w1, w3, w2"
    })
    void loadsEveryRow(String prefix, String gate, String up, String down) throws IOException {
        CheckpointFixture fixture = new CheckpointFixture(prefix, gate, up, down);
        if (prefix.startsWith("model.language")) { // sizes one level down, a scale of activations to be ignored
            fixture.config.set("text_config", fixture.config.deepCopy());
            fixture.config.retain("text_config");
            fixture.tensors.put(
                    String.format(prefix, 0, 0) + gate + ".input_scale", CheckpointFixture.scalar(Float.NaN));
        }
        LoadedExperts loaded = new ExpertLoader(Checkpoint.open(fixture.writeShards(folder, 2)), HOST).load();
        requireSame(loaded.source(), CheckpointFixture.EXPERT_ROWS.hostSource(), 0);
        assertThat(loaded.loss().blocks()).isEqualTo(2 * 4 * 3 * 128 * 64 / 16L);
        assertThat(loaded.loss().relativeError()).isZero();
    }

    private static void requireSame(HostSource actual, HostSource expected, int firstLayer) {
        for (int layer = 0; layer < actual.layers(); layer++) {
            for (int expert = 0; expert < expected.experts(); expert++) {
                assertThat(actual.row(layer, expert)).isEqualTo(expected.row(firstLayer + layer, expert));
            }
        }
        int perLayer = expected.experts() * HostSource.PROJECTIONS;
        assertThat(actual.alphas())
                .isEqualTo(expected.alphas().slice(firstLayer * perLayer, actual.layers() * perLayer));
    }

    /** Bug 5 from the files on: gate and up keep their own global scales. Scalars may have shape [1]. */
    @Test
    void bug5GlobalScalesOfGateAndUp() throws IOException {
        CheckpointFixture fixture = new CheckpointFixture();
        fixture.replace(
                "model.layers.0.mlp.experts.0.gate_proj.weight_scale_2",
                new Tensor("F32", new long[] {1}, CheckpointFixture.scalar(1f).bytes));
        fixture.replace("model.layers.0.mlp.experts.0.up_proj.weight_scale_2", CheckpointFixture.scalar(2f));
        FloatBuffer alphas = new ExpertLoader(Checkpoint.open(fixture.write(folder)), HOST)
                .load()
                .source()
                .alphas();
        assertThat(alphas.get(1)).isEqualTo(2 * alphas.get(0));
    }

    /** Bugs 1 and 2: the smallest scale beside 1 is kept, beside the largest it is lost, and the loss is told apart. */
    @Test
    void bugs1And2TellTheLossOfScales() throws IOException {
        CheckpointFixture fixture = new CheckpointFixture();
        byte[] scales = new byte[64 * 8];
        java.util.Arrays.fill(scales, (byte) 0x38);
        scales[5] = 0x01;
        fixture.replace(
                "model.layers.0.mlp.experts.0.gate_proj.weight_scale",
                new Tensor("F8_E4M3", new long[] {64, 8}, scales));
        byte[] far = scales.clone();
        far[6] = 0x7E;
        fixture.replace(
                "model.layers.1.mlp.experts.3.up_proj.weight_scale", new Tensor("F8_E4M3", new long[] {64, 8}, far));
        LoadedExperts loaded = new ExpertLoader(Checkpoint.open(fixture.write(folder)), HOST).load();
        assertThat(loaded.loss().zeroed()).isEqualTo(1);
        assertThat(loaded.loss().squaredError()).isEqualTo(0x1p-18);
    }

    /** Bug 28: dummy or damaged scales are refused by tensor, byte and value. */
    @ParameterizedTest
    @CsvSource({"0x81, -0.00195", "0xFF, NaN", "0x7F, NaN", "0xB8, -1.0"})
    void bug28RefusesScalesThatAreNoSizes(String bits, String value) throws IOException {
        CheckpointFixture fixture = new CheckpointFixture();
        byte[] scales = new byte[128 * 4];
        scales[100] = (byte) 0x80; // minus zero is zero
        scales[200] = (byte) (int) Integer.decode(bits);
        fixture.replace(
                "model.layers.1.mlp.experts.2.down_proj.weight_scale",
                new Tensor("F8_E4M3", new long[] {128, 4}, scales));
        refused(
                fixture,
                "model.safetensors: tensor model.layers.1.mlp.experts.2.down_proj.weight_scale: byte 200 is "
                        + bits.toLowerCase(java.util.Locale.ROOT) + " (" + value);
    }

    @ParameterizedTest
    @CsvSource({"NaN", "Infinity", "-1.0"})
    void refusesGlobalScalesThatAreNoSizes(float scale) throws IOException {
        CheckpointFixture fixture = new CheckpointFixture();
        fixture.replace("model.layers.1.mlp.experts.2.up_proj.weight_scale_2", CheckpointFixture.scalar(scale));
        refused(fixture, "tensor model.layers.1.mlp.experts.2.up_proj.weight_scale_2: is " + scale);
    }

    /** An alpha that fp32 does not hold is no property of one tensor: the expert is named. Of several, the first. */
    @Test
    void refusesAlphasOutsideFp32() throws IOException {
        CheckpointFixture fixture = new CheckpointFixture();
        for (int expert : new int[] {1, 2, 3}) {
            fixture.replace(
                    "model.layers.0.mlp.experts." + expert + ".up_proj.weight_scale_2",
                    CheckpointFixture.scalar(0x1p100f));
        }
        refused(fixture, folder + ": model.layers.0.mlp.experts.1: Marlin scales: alpha");
    }

    private void refused(CheckpointFixture fixture, String problem) throws IOException {
        ExpertLoader loader = new ExpertLoader(Checkpoint.open(fixture.write(folder)), HOST);
        assertThatThrownBy(loader::load).isInstanceOf(BadInputException.class).hasMessageContaining(problem);
    }

    /** One slab is asked for at a time, each filled before the next, and only for the layers that are wanted. */
    @Test
    void asksForOneSlabAtATime() throws IOException {
        CheckpointFixture fixture = new CheckpointFixture();
        List<ByteBuffer> slabs = new ArrayList<>();
        List<Integer> told = new ArrayList<>();
        LoadedExperts loaded = new ExpertLoader(Checkpoint.open(fixture.write(folder)), HOST)
                .load(
                        List.of(1),
                        (layer, bytes) -> {
                            assertThat(layer).isEqualTo(slabs.size()).isEqualTo(told.size());
                            assertThat(bytes).isEqualTo(SlabSource.slabBytes(CheckpointFixture.LAYOUT, 4));
                            slabs.add(ByteBuffer.allocate(bytes));
                            return slabs.get(layer);
                        },
                        layers -> {
                            HostSource expected = CheckpointFixture.EXPERT_ROWS.hostSource();
                            ByteBuffer last = slabs.get(layers - 1).slice(3 * 13_824, 13_824);
                            assertThat(last).isEqualTo(expected.row(1, 3));
                            told.add(layers);
                        });
        assertThat(told).containsExactly(1);
        requireSame(loaded.source(), CheckpointFixture.EXPERT_ROWS.hostSource(), 1);
    }

    /** Bug 21: experts under way take no more than two layers beside the source, whatever the machine's cores. */
    @Test
    void bug21StaysBelowTwoLayersBesideTheSource() throws IOException {
        Checkpoint checkpoint = Checkpoint.open(new CheckpointFixture().write(folder));
        ExpertRowLayout layout = CheckpointFixture.LAYOUT;
        ByteBuffer row = ByteBuffer.allocate((int) layout.rowBytes());
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ExpertPacker.DEFAULT.pack(checkpoint.expert(0, 0), row.duplicate());
        long before = threads.getCurrentThreadAllocatedBytes();
        ExpertPacker.DEFAULT.pack(checkpoint.expert(0, 1), row.duplicate());
        long perExpert = threads.getCurrentThreadAllocatedBytes() - before;
        long small = 16_384; // buffers, records, names
        assertThat(perExpert).isBetween(layout.rowBytes(), HostConversion.ROWS_UNDER_WAY * layout.rowBytes() + small);
        for (int experts : new int[] {1, 2, 3, 4, 128, 512}) {
            for (int cores : new int[] {1, 2, 16, 1024}) {
                int workers = HostConversion.workers(experts, cores);
                assertThat(workers).isBetween(1, cores);
                assertThat(workers == 1 || workers * HostConversion.ROWS_UNDER_WAY <= 2 * experts)
                        .isTrue();
            }
        }
    }
}
