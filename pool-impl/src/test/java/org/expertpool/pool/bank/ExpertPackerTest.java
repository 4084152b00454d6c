package org.expertpool.pool.bank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.format.Nvfp4Tensor;
import org.expertpool.pool.marlin.ActivationType;
import org.expertpool.pool.marlin.ScaleFactorRule;
import org.junit.jupiter.api.Test;

class ExpertPackerTest {
    private static final int ONE = 0x38;

    /** Bug 5: gate and up carry global scales of their own; taking the gate's for both would halve the up half. */
    @Test
    void bug5UpKeepsItsOwnGlobalScale() {
        ExpertPacker.Packed packed = pack(ExpertPacker.DEFAULT, tensor(ONE, 1f), tensor(ONE, 2f), tensor(ONE, 1f));
        assertThat(packed.up()).isEqualTo(2 * packed.gate());
        assertThat(packed.gate()).isEqualTo(packed.down());
    }

    /** The factor belongs to one projection: a large scale in the gate must not cost the up half its small ones. */
    @Test
    void everyProjectionHasItsOwnFactor() {
        Nvfp4Tensor tiny = tensor(0x01, 1f);
        ExpertPacker.Packed packed = pack(ExpertPacker.DEFAULT, tensor(0x7E, 1f), tiny, tensor(ONE, 1f));
        assertThat(packed.gate()).isEqualTo(0x1p119f);
        assertThat(packed.up()).isEqualTo(0x1p102f);
        assertThat(packed.down()).isEqualTo(0x1p111f);
        assertThat(packed.loss().relativeError()).isZero();
    }

    @Test
    void olderRuleAndFp16AreSelectable() {
        ExpertPacker older = new ExpertPacker(ScaleFactorRule.FROM_SMALLEST, ActivationType.BF16);
        assertThat(pack(older, tensor(ONE, 1f), tensor(0x01, 1f), tensor(ONE, 1f)))
                .extracting(ExpertPacker.Packed::gate, ExpertPacker.Packed::up)
                .containsExactly(0x1p119f, 0x1p116f);
        ExpertPacker fp16 = new ExpertPacker(ScaleFactorRule.FROM_LARGEST, ActivationType.FP16);
        assertThat(pack(fp16, tensor(ONE, 1f), tensor(ONE, 1f), tensor(ONE, 1f)).down())
                .isEqualTo(0x1p7f);
    }

    @Test
    void partsLieWhereTheLayoutSays() {
        ByteBuffer row = ByteBuffer.allocate((int) new ExpertRowLayout(64, 64).rowBytes());
        Nvfp4Tensor zero = new Nvfp4Tensor(64, 64, new byte[2048], new byte[256], 0f);
        byte[] ones = new byte[2048];
        Arrays.fill(ones, (byte) 0x22);
        ExpertPacker.DEFAULT.pack(new PlainExpert(zero, new Nvfp4Tensor(64, 64, ones, scales(0x7E), 1f), zero), row);
        assertThat(row.hasRemaining()).isFalse();
        // [K/16, 2 * 2I] words: of every 256, the first 128 are gate, the next 128 up.
        for (int word = 0; word < 1024; word++) {
            assertThat(row.getInt(4 * word)).isEqualTo(word % 256 < 128 ? 0 : 0x2222_2222);
        }
        // [K/16, 2I] codes, likewise; 448 has code 0xF6 at factor 1.
        for (int code = 0; code < 512; code++) {
            assertThat(row.get(4096 + code)).isEqualTo(code % 128 < 64 ? 0 : (byte) 0xF6);
        }
        for (int at = 4608; at < row.capacity(); at++) {
            assertThat(row.get(at)).isZero();
        }
    }

    /** Bug 28 at the level of an expert, and shapes that do not belong together. */
    @Test
    void refusesBadExperts() {
        Nvfp4Tensor negative = tensor(0xB8, 1f);
        assertThatThrownBy(() -> pack(ExpertPacker.DEFAULT, tensor(ONE, 1f), negative, tensor(ONE, 1f)))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("block scale 0 is 0xb8");
        ByteBuffer untouched = ByteBuffer.allocate((int) new ExpertRowLayout(64, 64).rowBytes());
        Nvfp4Tensor ones = new Nvfp4Tensor(64, 64, filled(2048, 0x22), scales(ONE), 1f);
        PlainExpert overflowing = new PlainExpert(ones, ones, tensor(0x7E, 512f));
        assertThatThrownBy(() -> ExpertPacker.DEFAULT.pack(overflowing, untouched))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("alpha of global scale 512.0");
        assertThat(untouched).isEqualTo(ByteBuffer.allocate(untouched.capacity()));
        Nvfp4Tensor wide = new Nvfp4Tensor(64, 128, new byte[4096], new byte[512], 1f);
        assertThatThrownBy(() -> new PlainExpert(tensor(ONE, 1f), wide, tensor(ONE, 1f)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("expert: up has shape [64, 128], expected [64, 64] beside its gate");
        assertThatThrownBy(() -> new PlainExpert(wide, wide, wide)).hasMessageContaining("down has shape [64, 128]");
    }

    private static ExpertPacker.Packed pack(ExpertPacker packer, Nvfp4Tensor gate, Nvfp4Tensor up, Nvfp4Tensor down) {
        PlainExpert expert = new PlainExpert(gate, up, down);
        return packer.pack(expert, ByteBuffer.allocate((int) expert.layout().rowBytes()));
    }

    private static Nvfp4Tensor tensor(int scale, float globalScale) {
        return new Nvfp4Tensor(64, 64, new byte[2048], scales(scale), globalScale);
    }

    private static byte[] scales(int scale) {
        return filled(256, scale);
    }

    private static byte[] filled(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
