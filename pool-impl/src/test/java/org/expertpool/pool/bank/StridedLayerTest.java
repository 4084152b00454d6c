package org.expertpool.pool.bank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Random;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.marlin.ActivationType;
import org.junit.jupiter.api.Test;

class StridedLayerTest {
    private static final ExpertRowLayout LAYOUT = new ExpertRowLayout(64, 64); // parts of 4096, 512, 2048, 256 bytes
    private static final int[] PART_BYTES = {4096, 512, 2048, 256};
    private static final int[] GAPS = {0, 48, 1000, 3};
    private static final int EXPERTS = 5;

    @Test
    void densifyingKeepsEveryValueInPartOrder() {
        byte[][][] tensors = new byte[2][4][];
        Random random = new Random(8);
        for (byte[][] layer : tensors) {
            for (int part = 0; part < 4; part++) {
                layer[part] = new byte[7 + EXPERTS * (PART_BYTES[part] + GAPS[part])];
                random.nextBytes(layer[part]);
            }
        }
        FloatBuffer alphas = FloatBuffer.allocate(2 * EXPERTS * 3);
        HostSource dense = StridedLayer.densify(
                LAYOUT, ActivationType.FP16, EXPERTS, List.of(strided(tensors[0]), strided(tensors[1])), alphas);
        assertThat(dense.activations()).isEqualTo(ActivationType.FP16);
        for (int layer = 0; layer < 2; layer++) {
            for (int expert = 0; expert < EXPERTS; expert++) {
                ByteBuffer expected = ByteBuffer.allocate((int) LAYOUT.rowBytes());
                for (int part = 0; part < 4; part++) {
                    int from = 7 + expert * (PART_BYTES[part] + GAPS[part]);
                    expected.put(tensors[layer][part], from, PART_BYTES[part]);
                }
                assertThat(dense.row(layer, expert)).isEqualTo(expected.flip());
            }
        }
    }

    @Test
    void theCopyIsThePoolsOwn() {
        byte[][] tensors = new byte[4][];
        for (int part = 0; part < 4; part++) {
            tensors[part] = new byte[7 + EXPERTS * (PART_BYTES[part] + GAPS[part])];
        }
        HostSource dense = StridedLayer.densify(
                LAYOUT, ActivationType.FP16, EXPERTS, List.of(strided(tensors)), FloatBuffer.allocate(EXPERTS * 3));
        tensors[0][7] = 1;
        assertThat(dense.row(0, 0).get(0)).isZero();
    }

    @Test
    void refusesTensorsThatAreTooShort() {
        byte[][] tensors = new byte[4][];
        for (int part = 0; part < 4; part++) {
            tensors[part] = new byte[7 + EXPERTS * (PART_BYTES[part] + GAPS[part])];
        }
        tensors[2] = new byte[7 + 4 * 3048 + 2047];
        assertThatThrownBy(() -> StridedLayer.densify(
                        LAYOUT,
                        ActivationType.FP16,
                        EXPERTS,
                        List.of(strided(tensors)),
                        FloatBuffer.allocate(EXPERTS * 3)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("layer 0 w2 has 14239 bytes, expected at least 14240 for 5 experts of 2048 bytes"
                        + " at a stride of 3048");
        assertThatThrownBy(() -> new StridedPart(ByteBuffer.allocate(1), -1)).hasMessageContaining("strideBytes is -1");
        assertThatThrownBy(() -> new StridedPart(ByteBuffer.allocate(1), 1L << 62))
                .as("whose multiples wrap around")
                .isInstanceOf(BadInputException.class);
    }

    private static StridedLayer strided(byte[][] tensors) {
        StridedPart[] parts = new StridedPart[4];
        for (int part = 0; part < 4; part++) {
            ByteBuffer bytes = ByteBuffer.wrap(tensors[part]).position(7);
            parts[part] = new StridedPart(bytes, PART_BYTES[part] + GAPS[part]);
        }
        return new StridedLayer(parts[0], parts[1], parts[2], parts[3]);
    }
}
