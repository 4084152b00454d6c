package org.expertpool.harness.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.expertpool.pool.BadInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({
        "48GiB, 51539607552",
        "512MiB, 536870912",
        "1000, 1000",
        "0, 0",
        "1GB, 1000000000",
        "1.5KiB, 1536",
        "43.2 GiB, 46385646796"
    })
    void readsWhatPeopleWrite(String text, long bytes) {
        assertThat(ByteSize.parse("--memory", text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GiB", "-1", "1.5", "48 gigs", "9999999999GiB", "1e9", "0x10"})
    void refusesTheRestNamingTheField(String text) {
        assertThatThrownBy(() -> ByteSize.parse("--memory", text))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("--memory");
    }

    @Test
    void writesGib() {
        assertThat(ByteSize.gib(46_402_294_000L)).isEqualTo("43.22 GiB");
    }
}
