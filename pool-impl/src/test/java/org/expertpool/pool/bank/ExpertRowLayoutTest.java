package org.expertpool.pool.bank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExpertRowLayoutTest {
    /** The table of marlin-nvfp4 1.5, typed over. */
    @ParameterizedTest
    @CsvSource({
        "2048, 768, 1572864, 196608, 786432, 98304, 2654208",
        "2048, 512, 1048576, 131072, 524288, 65536, 1769472",
        "2560, 640, 1638400, 204800, 819200, 102400, 2764800",
        "7168, 2048, 14680064, 1835008, 7340032, 917504, 24772608",
    })
    void partsHaveThePublishedSizes(int hidden, int width, long w13, long s13, long w2, long s2, long row) {
        ExpertRowLayout layout = new ExpertRowLayout(hidden, width);
        assertThat(layout.w13Bytes()).isEqualTo(w13);
        assertThat(layout.s13Bytes()).isEqualTo(s13);
        assertThat(layout.w2Bytes()).isEqualTo(w2);
        assertThat(layout.s2Bytes()).isEqualTo(s2);
        assertThat(layout.rowBytes()).isEqualTo(row);
        assertThat(layout.w13Offset()).isZero();
        assertThat(layout.s13Offset()).isEqualTo(w13);
        assertThat(layout.w2Offset()).isEqualTo(w13 + s13);
        assertThat(layout.s2Offset()).isEqualTo(w13 + s13 + w2);
    }

    @Test
    void everyPartOfEveryAllowedShapeIsAligned() {
        for (int hidden = 64; hidden <= 1024; hidden += 64) {
            for (int width = 64; width <= 1024; width += 64) {
                ExpertRowLayout layout = new ExpertRowLayout(hidden, width);
                for (long offset : new long[] {
                    layout.s13Offset(), layout.w2Offset(), layout.s2Offset(), layout.rowBytes(), layout.rowOffset(3)
                }) {
                    assertThat(offset % ExpertRowLayout.ALIGNMENT_BYTES)
                            .as("%d x %d", hidden, width)
                            .isZero();
                }
            }
        }
    }

    /** marlin-nvfp4 8.A: counted in bytes, 32 bits end at these rows; rows must go on past them. */
    @ParameterizedTest
    @CsvSource({"2048, 768, 1365", "2048, 512, 2048", "2560, 640, 1310", "7168, 2048, 146"})
    void bug16RowOffsetsAre64Bit(int hidden, int width, long lastW13RowIn32Bit) {
        ExpertRowLayout layout = new ExpertRowLayout(hidden, width);
        assertThat(lastW13RowIn32Bit * layout.w13Bytes()).isBetween((1L << 31) - layout.w13Bytes(), 1L << 31);
        assertThat(layout.rowOffset(32_768))
                .isEqualTo(32_768L * layout.rowBytes())
                .isGreaterThan(1L << 32);
        assertThatThrownBy(() -> layout.rowOffset(Long.MAX_VALUE / 2)).isInstanceOf(ArithmeticException.class);
    }

    @ParameterizedTest
    @CsvSource({"0, 64, hidden is 0", "64, 80, expertWidth is 80", "-64, 64, hidden is -64", "2097152, 64, hidden is"})
    void rejectsShapesThatMarlinCannotHold(int hidden, int width, String message) {
        assertThatThrownBy(() -> new ExpertRowLayout(hidden, width))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("a multiple of 64");
    }
}
