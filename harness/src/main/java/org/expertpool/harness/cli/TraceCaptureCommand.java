package org.expertpool.harness.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.expertpool.harness.io.AtomicFile;
import org.expertpool.harness.trace.Traces;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code trace capture}: writes out the recorder that people drop into their own engine. */
@Command(
        name = "capture",
        mixinStandardHelpOptions = true,
        description = "Write a recorder of router decisions, one Python file for vLLM, SGLang or code of your own.",
        footer = {
            "",
            "In the engine's process, once it has started, without CUDA graphs, one request at a time:",
            "",
            "  from route_capture import Recorder, attach_vllm     # or attach_sglang",
            "  recorder = Recorder('mine.trace', layers=48, experts=512, top_k=10)",
            "  attach_vllm(recorder)",
            "  ...                                                 # requests",
            "  recorder.close()",
            "",
            "Code of your own calls recorder.record(layer, topk_ids, topk_weights) per layer instead of attaching.",
            "mine.trace then goes into trace info, simulate, analyse and advise. More in notes/capture.md."
        })
final class TraceCaptureCommand implements Callable<Integer> {
    private static final String RECORDER = "route_capture.py";

    @Option(
            names = "--out",
            required = true,
            paramLabel = "FILE.py",
            description = "The file to write, such as " + RECORDER + ".")
    private Path out;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        try (InputStream recorder = Traces.class.getResourceAsStream(RECORDER);
                AtomicFile file = AtomicFile.create(out)) {
            try (OutputStream stream = file.stream()) {
                recorder.transferTo(stream);
            }
            file.commit();
        }
        spec.commandLine().getOut().println(out + ": see trace capture --help for how to use it");
        return 0;
    }
}
