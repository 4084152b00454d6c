package org.expertpool.harness.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.expertpool.harness.doctor.Doctor;
import org.expertpool.harness.doctor.Finding;
import org.junit.jupiter.api.Test;

class DoctorCommandTest {
    private static final List<Finding> FINDINGS = List.of(
            new Finding("jdk", Finding.State.OK, "17", ""),
            new Finding("kernels", Finding.State.MISSING, "not built", "install nvcc"));

    @Test
    void printsATableWithAdviceBelowWhatIsMissing() throws Exception {
        assertThat(printed(FINDINGS, false).lines())
                .containsExactly(
                        "ok       jdk      17", "missing  kernels  not built", "                  -> install nvcc");
    }

    @Test
    void printsJson() throws Exception {
        JsonNode report = new ObjectMapper().readTree(printed(FINDINGS, true));
        assertThat(report.at("/jdk/state").textValue()).isEqualTo("ok");
        assertThat(report.at("/kernels/advice").textValue()).isEqualTo("install nvcc");
    }

    @Test
    void findsEveryPartOnThisMachine() {
        assertThat(Doctor.examine())
                .extracting(finding -> finding.name().replaceAll(" \\d+", ""))
                .contains(
                        "device", "link", "kernels", "jdk", "maven", "pinned memory limit", "plotting", "shared data");
    }

    private static String printed(List<Finding> findings, boolean json) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DoctorCommand.print(findings, json, new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
