package org.expertpool.harness.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.expertpool.harness.cli.Main;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Python recorder, fed by stand-ins for the engines' routers; skipped where there is no python3. */
class TraceCaptureTest {
    /** Three layers, 16 experts, top 3: {@code route(f, l, tokens)} gives what the Java side works out on its own. */
    private static final String STAND_INS = """
            import collections, sys, types
            from route_capture import Recorder, attach, attach_sglang, attach_vllm

            class Tensor:
                def __init__(self, rows): self.rows = rows
                def tolist(self): return [list(row) for row in self.rows]

            def route(f, l, tokens):
                ids = [[(5 * f + 3 * l + 2 * t + 7 * s) % 16 for s in range(3)] for t in range(tokens)]
                weights = [[(f + l + t + s) / 8 for s in range(3)] for t in range(tokens)]
                return Tensor(weights), Tensor(ids)

            def module(name, **content):
                parts = name.split('.')
                for end in range(1, len(parts) + 1):
                    sys.modules.setdefault('.'.join(parts[:end]), types.ModuleType('.'.join(parts[:end])))
                for key, value in content.items():
                    setattr(sys.modules[name], key, value)
                return sys.modules[name]

            """;

    private static final TraceShape SHAPE = new TraceShape(3, 16, 3, true);

    @TempDir
    Path folder;

    private record Ran(int exit, String output) {}

    @BeforeEach
    void writeRecorder() throws Exception {
        assertThat(Main.run(
                        "trace",
                        "capture",
                        "--out",
                        folder.resolve("route_capture.py").toString()))
                .isZero();
        assumeThat(hasPython()).as("python3 is not on the path").isTrue();
    }

    @Test
    void recordsWhatItIsFed() throws Exception {
        Ran ran = python("""
                r = Recorder('t.trace', layers=3, experts=16, top_k=3, source='fed by a test: \\u00e9')
                for f, tokens in enumerate([5, 2, 1, 1, 4, 1, 1]):
                    if f == 6:
                        r.mark(starts_sequence=True)
                    for l in range(3):
                        weights, ids = route(f, l, tokens)
                        r.record(l, ids, weights.rows if f % 2 else weights)
                r.close()
                """);
        assertThat(ran.output).isEmpty();
        assertThat(ran.exit).isZero();
        // A prompt in two chunks, two decode tokens; a second prompt, one token; then a marked sequence of one token.
        assertThat(read("t.trace", "fed by a test: \u00e9"))
                .containsExactly(
                        forward(0, true, true, 0, 5),
                        forward(1, false, true, 5, 2),
                        forward(2, false, false, 7, 1),
                        forward(3, false, false, 8, 1),
                        forward(4, true, true, 0, 4),
                        forward(5, false, false, 4, 1),
                        forward(6, true, false, 0, 1));
        assertThat(Main.run("trace", "info", folder.resolve("t.trace").toString()))
                .isZero();
    }

    @Test
    void marksSeveralDecodeTokens() throws Exception {
        python("""
                r = Recorder('t.trace', 3, 16, 3)
                for f in range(2):
                    r.mark(prefill=False)
                    for l in range(3):
                        weights, ids = route(f, l, 2)
                        r.record(l, ids, weights)
                r.close()
                """);
        assertThat(read("t.trace", "captured from a running router"))
                .containsExactly(forward(0, true, false, 0, 2), forward(1, false, false, 2, 2));
    }

    @Test
    void attachesToStandInsOfBothEngines() throws Exception {
        Ran ran = python("""
                Named = collections.namedtuple('Named', 'topk_weights topk_ids router_logits')
                sg = module('sglang.srt.layers.moe.topk', select_experts=lambda f, l, n: Named(*route(f, l, n), None))
                class FusedMoE:
                    @staticmethod
                    def select_experts(f, l, n): return route(f, l, n)
                vl = module('vllm.model_executor.layers.fused_moe.layer', FusedMoE=FusedMoE)
                class Plain:
                    def pick(self, f, l, n): return route(f, l, n)
                own = module('mine', Plain=Plain)
                for name, attached, call in (
                        ('sglang', attach_sglang, lambda *a: sg.select_experts(*a)),
                        ('vllm', attach_vllm, lambda *a: FusedMoE.select_experts(*a)),
                        ('own', lambda r: attach(r, ['nothing:here', 'mine:Plain.pick']), lambda *a: Plain().pick(*a))):
                    recorder = Recorder(name + '.trace', 3, 16, 3)
                    detach = attached(recorder)
                    for f, n in enumerate([2, 1]):
                        for l in range(3):
                            result = call(f, l, n)
                            assert result[1].tolist() == route(f, l, n)[1].tolist()
                    detach()
                    call(0, 0, 7)
                    recorder.close()
                """);
        assertThat(ran.output).isEmpty();
        for (String name : List.of("sglang", "vllm", "own")) {
            assertThat(read(name + ".trace", "captured from a running router"))
                    .containsExactly(forward(0, true, true, 0, 2), forward(1, false, false, 2, 1));
        }
    }

    @Test
    void writesWholeFilesOrNone() throws Exception {
        Ran ran = python("""
                def attempt(name, call):
                    try:
                        call()
                        print(name, 'went through')
                    except ValueError as e:
                        print(name, e)
                r = Recorder('bad.trace', 3, 16, 3)
                attempt('range', lambda: r.record(0, [[0, 1, 16]], [[1, 1, 1]]))
                attempt('twice', lambda: r.record(0, [[0, 1, 1]], [[1, 1, 1]]))
                attempt('top_k', lambda: r.record(0, [[0, 1]], [[1, 1]]))
                attempt('weight', lambda: r.record(0, [[0, 1, 2]], [[1, 1, float('nan')]]))
                attempt('layer', lambda: r.record(1, [[0, 1, 2]], [[1, 1, 1]]))
                r.record(0, [[0, 1, 2]], [[1, 1, 1]])
                attempt('tokens', lambda: r.record(1, [[0, 1, 2]] * 2, [[1, 1, 1]] * 2))
                r.close()
                # A router whose output changes its shape ends the recording and not the model.
                m = module('mine', route=lambda k: ([[1.0] * k], [list(range(k))]))
                s = Recorder('stopped.trace', 1, 16, 3)
                attach(s, ['mine:route'])
                m.route(3), m.route(4), m.route(3)
                # Left open: the end of the process closes it, without the layers of the last forward.
                e = Recorder('atexit.trace', 3, 16, 3)
                for call in range(4):
                    weights, ids = route(call // 3, call % 3, 1)
                    e.record(call % 3, ids, weights)
                """);
        String here = folder.toRealPath().toString();
        assertThat(ran.output.replace(here, "DIR").lines())
                .containsExactlyInAnyOrder(
                        "range layer 0 has expert 16, expected 0 to 15",
                        "twice layer 0 has an expert twice in one token: [0, 1, 1]",
                        "top_k layer 0 has 2 ids in a token, expected 3",
                        "weight layer 0 has router weight nan, expected a finite number, at least 0",
                        "layer layer 1 came, expected layer 0",
                        "tokens layer 1 has 2 tokens, expected 1 as in layer 0 (does the model have 3 MoE layers?)",
                        "route capture: the last forward has 1 of 3 layers and is left out",
                        "route capture: DIR/bad.trace is not written: no whole forward was recorded",
                        "route capture: DIR/stopped.trace is not written: layer 0 has 4 ids in a token, expected 3",
                        "route capture: the last forward has 1 of 3 layers and is left out");
        assertThat(read("atexit.trace", "captured")).containsExactly(forward(0, true, false, 0, 1));
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("atexit.trace", "feed.py", "route_capture.py");
        }
        assertThat(ran.exit).isZero();
    }

    private static boolean hasPython() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(entry -> Files.isExecutable(Path.of(entry, "python3")));
    }

    private Ran python(String body) throws IOException, InterruptedException {
        Path script = Files.writeString(folder.resolve("feed.py"), STAND_INS + body);
        Process process = new ProcessBuilder("python3", "-B", script.toString())
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Ran(process.exitValue(), output);
    }

    private List<RandomForwards.Forward> read(String name, String source) throws IOException {
        try (RoutingTrace trace = Traces.open(folder.resolve(name))) {
            assertThat(trace.shape()).isEqualTo(SHAPE);
            assertThat(trace.source()).contains(source);
            return RandomForwards.read(trace);
        }
    }

    private static RandomForwards.Forward forward(int f, boolean starts, boolean prefill, int position, int tokens) {
        List<Integer> ids = new ArrayList<>();
        List<Float> weights = new ArrayList<>();
        for (int layer = 0; layer < 3; layer++) {
            for (int token = 0; token < tokens; token++) {
                for (int slot = 0; slot < 3; slot++) {
                    ids.add((5 * f + 3 * layer + 2 * token + 7 * slot) % 16);
                    weights.add((f + layer + token + slot) / 8f);
                }
            }
        }
        return new RandomForwards.Forward(new ForwardHeader(starts, prefill, position, tokens), ids, weights);
    }
}
