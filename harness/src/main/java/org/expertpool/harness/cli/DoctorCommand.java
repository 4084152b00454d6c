package org.expertpool.harness.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.expertpool.harness.doctor.Doctor;
import org.expertpool.harness.doctor.Finding;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** {@code doctor}: what this machine can run. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = {
            "Shows device, driver, link, kernels, JDK, limits and data, and how to get what is missing.",
            "Exits 0 also where something is missing: the model backend needs none of the CUDA parts."
        })
final class DoctorCommand implements Callable<Integer> {
    @Option(names = "--json", description = "Print one JSON object: name to state, value and advice.")
    private boolean json;

    @Override
    public Integer call() throws JsonProcessingException {
        print(Doctor.examine(), json, System.out);
        return ExitCode.OK;
    }

    static void print(List<Finding> findings, boolean json, PrintStream out) throws JsonProcessingException {
        if (json) {
            out.println(json(findings));
            return;
        }
        int width = findings.stream()
                .mapToInt(finding -> finding.name().length())
                .max()
                .orElse(1);
        for (Finding finding : findings) {
            out.printf(Locale.ROOT, "%-7s  %-" + width + "s  %s%n", state(finding), finding.name(), finding.value());
            if (!finding.advice().isEmpty()) {
                out.println(" ".repeat("missing".length() + width + 4) + "-> " + finding.advice());
            }
        }
    }

    private static String json(List<Finding> findings) throws JsonProcessingException {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode report = mapper.createObjectNode();
        for (Finding finding : findings) {
            report.putObject(finding.name())
                    .put("state", state(finding))
                    .put("value", finding.value())
                    .put("advice", finding.advice());
        }
        return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(report);
    }

    private static String state(Finding finding) {
        return finding.state().name().toLowerCase(Locale.ROOT);
    }
}
