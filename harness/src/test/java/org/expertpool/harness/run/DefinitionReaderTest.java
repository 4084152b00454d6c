package org.expertpool.harness.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.expertpool.harness.cost.GraphMode;
import org.expertpool.harness.sim.ScoreWindow;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.policy.Initial;
import org.expertpool.pool.policy.Scope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DefinitionReaderTest {
    @TempDir
    private Path folder;

    @Test
    void matricesExpandInOrderIntoStableIds() throws IOException {
        Definition definition = Definitions.read(folder, Definitions.SMALL);
        assertThat(definition.cells().stream().map(Cell::id))
                .containsExactly(
                        "window=warm,policy=evict.lru,rows=16,graph_mode=none",
                        "window=warm,policy=evict.lru,rows=16,graph_mode=full-decode",
                        "window=warm,policy=evict.lru,rows=208,graph_mode=none",
                        "window=warm,policy=evict.lru,rows=208,graph_mode=full-decode",
                        "window=warm,policy=evict.lru,rows=448,graph_mode=none",
                        "window=warm,policy=evict.lru,rows=448,graph_mode=full-decode",
                        "window=cold,policy=evict.lru,rows=16",
                        "window=cold,policy=evict.lru,rows=208",
                        "window=cold,policy=static.profile,rows=16",
                        "window=cold,policy=static.profile,rows=208");
        Cell second = definition.cells().get(1);
        assertThat(second.graphMode()).contains(GraphMode.FULL_DECODE);
        assertThat(second.memoryBytes()).hasValue(48L << 30);
        assertThat(second.contextTokens()).hasValue(4096);
        assertThat(second.seed()).hasValue(1);
        assertThat(second.scope()).isEqualTo(Scope.GLOBAL);
        assertThat(definition.window(second))
                .isEqualTo(new Window("warm", Initial.FIRST_N, ScoreWindow.forwards(10, Long.MAX_VALUE), false));
        assertThat(definition.text()).isEqualTo(Definitions.SMALL);
    }

    @Test
    void graphModesShareASimulation() throws IOException {
        Definition definition = Definitions.read(folder, Definitions.SMALL);
        assertThat(definition.cells().stream().map(Cell::simulationKey).distinct())
                .hasSize(7);
    }

    @Test
    void aListOfOneValueIsAnAxisAndAScalarIsNot() throws IOException {
        Definition scalar = Definitions.read(folder, Definitions.SMALL, "control.promoteLimit=2", "scope=layer");
        assertThat(scalar.cells().get(0).id()).isEqualTo("window=warm,policy=evict.lru,rows=16,graph_mode=none");
        assertThat(scalar.cells().get(0).controls()).containsEntry("promoteLimit", 2);
        assertThat(scalar.cells().get(0).scope()).isEqualTo(Scope.LAYER);
        Definition list = Definitions.read(folder, Definitions.SMALL, "control.promoteLimit=[2]");
        assertThat(list.cells().get(0).id())
                .isEqualTo("window=warm,policy=evict.lru,control.promoteLimit=2,rows=16,graph_mode=none");
    }

    @Test
    void overridesReplaceAxesInEveryMatrixAndPathsInTheFile() throws IOException {
        Definition definition = Definitions.read(
                folder, Definitions.SMALL, "rows=31,62", "trace.forwards=50", "protocol.repetitions=1", "name=other");
        assertThat(definition.cells()).hasSize(8);
        assertThat(definition.cells().stream().map(Cell::rows).distinct()).containsExactly(31, 62);
        assertThat(definition.trace()).isEqualTo(new TraceSpec.Preset("qwen3.8-flash-next-prose", 50, 1));
        assertThat(definition.repetitions()).isEqualTo(1);
        assertThat(definition.name()).isEqualTo("other");
    }

    @Test
    void theKeptTextOfAnOverriddenDefinitionGivesTheSameCells() throws IOException {
        Definition overridden = Definitions.read(folder, Definitions.SMALL, "rows=[31,62]", "trace.forwards=50");
        Definition again = Definitions.read(folder, overridden.text());
        assertThat(again.cells()).isEqualTo(overridden.cells());
        assertThat(again.trace()).isEqualTo(overridden.trace());
        assertThat(again.windows()).isEqualTo(overridden.windows());
    }

    @Test
    void sequencesCanBoundAWindow() throws IOException {
        Definition definition = Definitions.read(
                folder, Definitions.SMALL, "window.warm.score_from='sequence=76'", "window.warm.reset=sequence");
        assertThat(definition.windows().get("warm").score()).isEqualTo(ScoreWindow.sequences(76, Long.MAX_VALUE));
        assertThat(definition.windows().get("warm").resetAtSequence()).isTrue();
    }

    @Test
    void forwardsBoundAWindowByTheirNumberAloneOrAsTheCommandLineSaysIt() throws IOException {
        Definition definition = Definitions.read(
                folder, Definitions.SMALL, "window.warm.score_from='forward=12'", "window.warm.score_to=30");
        assertThat(definition.windows().get("warm").score()).isEqualTo(ScoreWindow.forwards(12, 30));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            name = "small"                      | name = 5                          | name is 5, expected a string
            name = "small"                      | name = "A b"                      | name is "A b", expected lower-case letters
            name = "small"                      |                                   | name is missing
            name = "small"                      | name = "small"\\nballast = 1     | ballast is 1, expected true or false
            name = "small"                      | name = "small"\\nbeyond_memory = "lift" | beyond_memory is "lift", expected no such key without ballast = true
            name = "small"                      | name = "small"\\nballast = true\\nbeyond_memory = "more" | beyond_memory is "more", expected refuse or lift
            question = "Does it run?"           | question = " "                    | question is " "
            model = "qwen3.8-flash-next"        | model = "gpt-9"                   | model gpt-9: expected one of
            model = "qwen3.8-flash-next"        | model = "tiny"\\nactivations = "fp8" | activations is fp8, expected bf16 or fp16
            model = "qwen3.8-flash-next"        | modell = "x"                      | unknown key 'modell', expected one of name, question
            name = "small"                      | name = "small"\\nengine = "gpu"   | engine is "gpu", expected pool
            forwards = 40                       | forwards = 0                      | trace.forwards is 0, expected a whole number from 1
            forwards = 40                       | forwards = 4.5                    | trace.forwards is 4.5
            forwards = 40                       | forward = 40                      | unknown key 'trace.forward'
            preset = "qwen3.8-flash-next-prose" | file = "x.csv"                    | unknown key 'trace.forwards', expected one of file, sha256
            initial = "first-n"                 | initial = "full"                  | window.warm.initial is "full", expected first-n or empty
            score_from = 10                     | score_from = "seq=1"              | window.warm.score_from is "seq=1"
            score_from = 10                     | score_from = "forward=-1"       | expected a forward number, 'forward=k' or 'sequence=k'
            score_from = 10                     | score_from = 10\\nscore_to = 5    | window.warm.score_to is 5, expected more than score_from
            score_from = 10                     | score_from = 1\\nscore_to = "sequence=5" | the same unit as score_from
            score_from = 10                     | reset = "never"                   | window.warm.reset is "never"
            [window.warm]                       | [window.hot]                      | unknown key 'window.hot'
            rows = [16, 208]                    | rows = [16, 0]                    | matrix.rows is 0, expected a whole number from 1
            rows = [16, 208]                    | rows = [16, 16]                   | matrix.rows has 16 twice
            rows = [16, 208]                    | rows = []                         | matrix.rows is an empty list
            rows = [16, 208]                    | rowz = [16, 208]                  | unknown key 'matrix.rowz'
            rows = [16, 208]                    | rows = ["16"]                     | matrix.rows is "16"
            policy = ["lru", "static"]          | policy = ["lru", "best"]          | policy "best"
            policy = ["lru", "static"]          | policy = ["lru", "evict.lru"]     | policy has evict.lru twice
            policy = ["lru", "static"]          | scope = "layer"                   | axes.policy is missing
            window = "cold"                     | window = "tepid"                  | axes.window names 'tepid', expected one of
            graph_mode = ["none", "full-decode"] | graph_mode = "most"              | unknown graph mode 'most'
            context = 4096                      | context = -1                      | axes.context is -1
            memory = "48GiB"                    | memory = "48 gigs"                | axes.memory: '48 gigs' is not a size
            device = "rtx-pro-6000-48gib"       | device = "h300"                   | device profile 'h300'
            device = "rtx-pro-6000-48gib"       | scope = "global"                  | expected axes.device or axes.rest
            context = 4096                      | scope = "rack"                    | axes.scope is 'rack', expected one of global, layer
            context = 4096                      | seed = -1                         | axes.seed is -1
            context = 4096                      | control = {gate = 1}              | unknown key 'axes.control.gate'
            context = 4096                      | control = {promoteLimit = -1}     | axes.control.promoteLimit is -1
            context = 4096                      | control = {promoteInterval = 0}   | axes.control.promoteInterval is 0
            window = "cold"                     | window = "warm"\\ngraph_mode = "none" | occurs twice
            repetitions = 2                     | repetitions = 0                   | protocol.repetitions is 0
            repetitions = 2                     | warmup = 2                        | unknown key 'protocol.warmup'
            repetitions = 2                     | [marks]\\nrows = [0]              | marks.rows
            repetitions = 2                     | [[check]]\\nname = "c"\\nmetric = "speed"\\nmin = 1 | check[0].metric is "speed"
            repetitions = 2                     | [[check]]\\nname = "c"\\nmetric = "hit_ratio"       | check[0].min is missing, expected min, max or both
            repetitions = 2                     | [[check]]\\nname = "c"\\nmetric = "hit_ratio"\\nmin = 0\\nwhere = {x = 1} | check[0].where.x is 1
            repetitions = 2                     | repetitions = = 2                 | not TOML
            """)
    void badDefinitionsNameFileAndKey(String line, String replacement, String message) {
        String bad = Definitions.SMALL.replace(line, replacement == null ? "" : replacement.replace("\\n", "\n"));
        assertThat(bad).isNotEqualTo(Definitions.SMALL);
        assertThatThrownBy(() -> Definitions.read(folder, bad))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aTraceFileHasAHashAndNoSeed() throws IOException {
        String file = Definitions.SMALL
                .replace("preset = \"qwen3.8-flash-next-prose\"", "file = \"x.csv\"")
                .replace("forwards = 40", "sha256 = \"" + "0".repeat(64) + "\"");
        Definition definition = Definitions.read(folder, file);
        assertThat(definition.trace()).isEqualTo(new TraceSpec.File("x.csv", "0".repeat(64)));
        assertThat(definition.cells().get(0).seed()).isEmpty();
        assertThatThrownBy(() -> Definitions.read(folder, file, "seed=2")).hasMessageContaining("axes.seed is set");
        assertThatThrownBy(() -> Definitions.read(folder, file.replace("000", "xyz")))
                .hasMessageContaining("expected 64 lower-case hex digits");
    }

    /** A bound to compare with takes no N: the N that someone wants to look at is the pool's. */
    @Test
    void anAxisIsSetWhereTheEngineTakesIt() throws IOException {
        String resident = Definitions.SMALL + """
                [[matrix]]
                engine = "resident"
                window = "warm"
                """;
        Definition definition = Definitions.read(folder, resident, "rows=31,62", "control.promoteLimit=[2]");
        List<String> pools =
                definition.cells().stream().filter(Cell::isPool).map(Cell::id).toList();
        assertThat(pools).hasSize(8).allMatch(cell -> cell.contains("control.promoteLimit=2,rows="));
        assertThat(pools).anyMatch(cell -> cell.contains("rows=31")).noneMatch(cell -> cell.contains("rows=16"));
        assertThat(definition.cells().stream().filter(cell -> !cell.isPool()))
                .singleElement()
                .satisfies(cell -> assertThat(cell.engine()).isEqualTo("resident"));
        String alone = resident.substring(0, resident.indexOf("[[matrix]]")) + "engine = \"resident\"\n[[matrix]]\n";
        assertThatThrownBy(() -> Definitions.read(folder, alone, "rows=31"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("--set rows: no matrix has an engine that takes it");
        assertThatThrownBy(() -> Definitions.read(folder, Definitions.SMALL, "policy=lruu"))
                .hasMessageContaining("definition-under-test.toml: axes.policy: policy \"lruu\"");
    }

    @Test
    void badOverridesSayWhatTheyAre() {
        assertThatThrownBy(() -> Definitions.read(folder, Definitions.SMALL, "rows"))
                .hasMessageContaining("--set rows: expected key=value");
        assertThatThrownBy(() -> Definitions.read(folder, Definitions.SMALL, "name.first=1"))
                .hasMessageContaining("name is not a table");
        assertThatThrownBy(() -> Definitions.read(folder, Definitions.SMALL, "speed=1"))
                .hasMessageContaining("unknown key 'speed'");
    }

    @Test
    void unreadableFilesAreBadInput() throws IOException {
        Path missing = folder.resolve("missing.toml");
        assertThatThrownBy(() -> DefinitionReader.read(missing, List.of()))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("no such file");
        Path binary = Files.write(folder.resolve("binary.toml"), new byte[] {(byte) 0xff, 0});
        assertThatThrownBy(() -> DefinitionReader.read(binary, List.of()))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("not UTF-8");
    }
}
