package org.expertpool.harness.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Definitions for tests. */
final class Definitions {
    static final String SMALL = """
            name = "small"
            question = "Does it run?"
            expectation = "Yes."
            model = "qwen3.8-flash-next"

            [trace]
            preset = "qwen3.8-flash-next-prose"
            forwards = 40

            [window.warm]
            initial = "first-n"
            score_from = 10

            [window.cold]
            initial = "empty"
            score_to = 30

            [axes]
            device = "rtx-pro-6000-48gib"
            memory = "48GiB"
            context = 4096

            [[matrix]]
            window = "warm"
            policy = "lru"
            rows = [16, 208, 448]
            graph_mode = ["none", "full-decode"]

            [[matrix]]
            window = "cold"
            policy = ["lru", "static"]
            rows = [16, 208]

            [protocol]
            repetitions = 2
            """;

    private Definitions() {}

    static Definition read(Path folder, String toml, String... overrides) throws IOException {
        Path file = folder.resolve("definition-under-test.toml");
        Files.writeString(file, toml);
        return DefinitionReader.read(file, List.of(overrides));
    }

    /** The smallest definition, with more TOML behind it. */
    static Definition tiny(Path folder, String more, String... overrides) throws IOException {
        return read(folder, """
                name = "d"
                question = "q"
                expectation = "e"
                model = "tiny"
                [trace]
                preset = "tiny"
                forwards = 2
                [axes]
                policy = "lru"
                rows = 4
                """ + more, overrides);
    }

    /** A whole run of a definition into a new folder, in this process. */
    static Experiments.Request request(Path definition, String backend, Path out) {
        return new Experiments.Request(
                definition,
                backend,
                Optional.of(out),
                false,
                Optional.empty(),
                OptionalInt.empty(),
                List.of(),
                false,
                false);
    }
}
