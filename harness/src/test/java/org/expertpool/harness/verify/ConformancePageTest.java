package org.expertpool.harness.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page that says which test holds what names tests that are there. */
class ConformancePageTest {
    private static final Pattern NAMED = Pattern.compile("`([A-Z][A-Za-z0-9]*Test)(?:\\.([a-zA-Z0-9]+))?`");

    @Test
    void everyTestThatThePageNamesExists() throws IOException {
        Path root = Path.of("..").toAbsolutePath().normalize();
        Map<String, String> sources = new TreeMap<>(); // by class
        for (String module : new String[] {"harness", "pool-impl", "plots"}) {
            try (Stream<Path> files = Files.walk(root.resolve(module).resolve("src/test/java"))) {
                for (Path file : files.filter(path -> path.toString().endsWith("Test.java"))
                        .toList()) {
                    sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            }
        }
        Matcher named = NAMED.matcher(Files.readString(root.resolve("notes/conformance.md")));
        int found = 0;
        for (; named.find(); found++) {
            assertThat(sources).containsKey(named.group(1));
            if (named.group(2) != null) {
                assertThat(sources.get(named.group(1))).contains("void " + named.group(2) + "(");
            }
        }
        assertThat(found).isGreaterThan(40);
    }
}
