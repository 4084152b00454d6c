package org.expertpool.pool.bank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleCodes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SyntheticExpertsTest {
    private static final ExpertRowLayout LAYOUT = new ExpertRowLayout(128, 64);
    private static final SyntheticExperts EXPERTS = new SyntheticExperts(7, 3, 5, LAYOUT);

    /** A row is what the packer makes of the same expert's checkpoint form, to the last byte, alphas included. */
    @ParameterizedTest
    @CsvSource({"128, 64, BF16", "64, 128, BF16", "192, 320, BF16", "128, 64, FP16"})
    void rowsArePackedCheckpointExperts(int hidden, int width, ActivationType type) {
        SyntheticExperts experts = new SyntheticExperts(3, 2, 3, new ExpertRowLayout(hidden, width), type);
        HostSource source = experts.hostSource();
        assertThat(source.activations()).isEqualTo(type);
        for (int layer = 0; layer < 2; layer++) {
            for (int expert = 0; expert < 3; expert++) {
                ByteBuffer row = ByteBuffer.allocate((int) experts.layout().rowBytes());
                ExpertPacker.Packed packed = ExpertPacker.of(type).pack(experts.plain(layer, expert), row);
                assertThat(row.flip()).isEqualTo(source.row(layer, expert));
                int key = layer * 3 + expert;
                assertThat(packed.gate()).isEqualTo(source.alphas().get(3 * key));
                assertThat(packed.up()).isEqualTo(source.alphas().get(3 * key + 1));
                assertThat(packed.down()).isEqualTo(source.alphas().get(3 * key + 2));
                assertThat(packed.loss().zeroed() + packed.loss().changed()).isZero();
                assertThat(packed.loss().blocks())
                        .isEqualTo(
                                experts.layout().s13Bytes() + experts.layout().s2Bytes());
            }
        }
    }

    @Test
    void scaleCodesAreValidAndAllWeightCodesOccur() {
        HostSource source = EXPERTS.hostSource();
        byte[] s13 = new byte[(int) LAYOUT.s13Bytes()];
        byte[] s2 = new byte[(int) LAYOUT.s2Bytes()];
        int[] seen = new int[16];
        for (int expert = 0; expert < 5; expert++) {
            ByteBuffer row = source.row(1, expert);
            row.get((int) LAYOUT.s13Offset(), s13).get((int) LAYOUT.s2Offset(), s2);
            ScaleCodes.requireExactInBf16(s13);
            ScaleCodes.requireExactInBf16(s2);
            assertThat(s13).doesNotContain(0);
            assertThat(s2).doesNotContain(0);
            for (int i = 0; i < LAYOUT.w13Bytes(); i++) {
                seen[row.get(i) & 0xF]++;
                seen[(row.get(i) >> 4) & 0xF]++;
            }
        }
        int mean = (int) (5 * LAYOUT.w13Bytes() * 2 / 16);
        for (int count : seen) {
            assertThat(count).isBetween(mean * 9 / 10, mean * 11 / 10);
        }
    }

    /** What fixes the scale factor, however small the matrix. */
    @Test
    void everyProjectionBeginsWithItsLargestScale() {
        for (int expert = 0; expert < 5; expert++) {
            PlainExpert plain = EXPERTS.plain(2, expert);
            assertThat(plain.gate().scales()[0]).isEqualTo((byte) 0x4F);
            assertThat(plain.up().scales()[0]).isEqualTo((byte) 0x4F);
            assertThat(plain.down().scales()[0]).isEqualTo((byte) 0x4F);
        }
    }

    @Test
    void everyRowIsAnother() {
        HostSource source = EXPERTS.hostSource();
        Set<ByteBuffer> rows = new HashSet<>();
        for (int layer = 0; layer < 3; layer++) {
            for (int expert = 0; expert < 5; expert++) {
                rows.add(source.row(layer, expert));
            }
        }
        rows.add(new SyntheticExperts(8, 3, 5, LAYOUT).hostSource().row(0, 0));
        assertThat(rows).hasSize(16);
    }

    @Test
    void resultDoesNotDependOnThreads() throws Exception {
        HostSource one = inPool(1);
        HostSource four = inPool(4);
        for (int expert = 0; expert < 5; expert++) {
            assertThat(four.row(2, expert)).isEqualTo(one.row(2, expert));
        }
        assertThat(four.alphas()).isEqualTo(one.alphas());
    }

    private static HostSource inPool(int threads) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(threads);
        try {
            return pool.submit(() -> EXPERTS.hostSource()).get();
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void sumsStayNearUnitSize() {
        Nvfp4Tensor down = new SyntheticExperts(1, 1, 1, new ExpertRowLayout(512, 512))
                .plain(0, 0)
                .down();
        double squares = 0;
        for (float weight : down.dequantise()) {
            squares += (double) weight * weight;
        }
        // Over K = 512 terms of unit size: the root mean square of a sum.
        assertThat(Math.sqrt(squares / 512)).isBetween(0.7, 1.3);
    }

    @Test
    void fillingARowMovesTheBufferAndKeepsItsOrder() {
        ByteBuffer into = ByteBuffer.allocate(8 + (int) LAYOUT.rowBytes()).position(8);
        EXPERTS.fillRow(1, 2, into);
        assertThat(into.hasRemaining()).isFalse();
        assertThat(into.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
        assertThat(into.position(8)).isEqualTo(EXPERTS.hostSource().row(1, 2));
    }

    @Test
    void rowsAreReadOnlyLittleEndianAndChecked() {
        HostSource source = EXPERTS.hostSource();
        assertThat(source.row(0, 0).isReadOnly()).isTrue();
        assertThat(source.row(0, 0).order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        assertThat(source.row(0, 4).remaining()).isEqualTo((int) LAYOUT.rowBytes());
        assertThat(source.alphas().isReadOnly()).isTrue();
        assertThatThrownBy(() -> source.row(0, 5)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> source.row(0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> source.row(0, 1 << 23))
                .as("an offset that 32 bits wrap to row 0")
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> source.row(3, 0)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void slabsStayBelowTwoGiB() {
        ExpertRowLayout flashNext = new ExpertRowLayout(2560, 640);
        assertThat(SlabSource.slabBytes(flashNext, 512)).isEqualTo(1350 << 20);
        assertThatThrownBy(() -> SlabSource.slabBytes(flashNext, 777))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("takes 2148249600 bytes");
        assertThatThrownBy(() -> new SyntheticExperts(1, 0, 5, LAYOUT)).isInstanceOf(BadInputException.class);
    }
}
