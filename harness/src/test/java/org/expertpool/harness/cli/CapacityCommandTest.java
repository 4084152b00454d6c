package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CapacityCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void printsWhatFitsEitherWay() {
        int exit = Main.run(
                new PrintWriter(out),
                new PrintWriter(err, true),
                "capacity",
                "--model=qwen3-30b-a3b",
                "--memory=24GiB",
                "--context=4096",
                "--rows=8,127");
        assertThat(exit).isZero();
        assertThat(out.toString()).contains("48 layers x 128 experts", "context tokens", "largest N");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--model=none --memory=48GiB | model none",
                "--model=tiny --memory=48 GB x | unmatched",
                "--model=tiny --memory=lots | lots",
                "--model=tiny --memory=0 | expected 1 to",
                "--model=tiny --memory=9223372036854775807 | expected 1 to",
                "--model=qwen3-30b-a3b --memory=1GiB --context=4096,9223372036854775807 | expected at most",
                "--model=tiny --memory=1GiB --rows=0 | --rows",
                "--model=tiny --memory=1GiB --context=-1 | --context",
                "--model=tiny --memory=1GiB --chunk=0 | chunk",
                "--model=tiny --memory=1GiB --device=abacus | abacus"
            })
    void refusesInOneLineWithTwo(String arguments, String named) {
        int exit = Main.run(new PrintWriter(out), new PrintWriter(err, true), ("capacity " + arguments).split(" "));
        assertThat(exit).isEqualTo(2);
        assertThat(err.toString().strip()).hasLineCount(1).containsIgnoringCase(named);
        assertThat(out.toString()).isEmpty();
    }
}
