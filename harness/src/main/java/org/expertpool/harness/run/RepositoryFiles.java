package org.expertpool.harness.run;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the repository's own files lie, from wherever a command is called.
 *
 * @param root the repository root
 * @param shared replaces {@code ../shared} below the root, where the shared data lies elsewhere
 */
public record RepositoryFiles(Path root, Optional<Path> shared) {
    private static final String SHARED = "../shared/";

    /**
     * The root that the launcher names in {@code poolbench.root}; without one, the nearest folder above {@code start}
     * that holds {@code experiments/definitions}, and failing that {@code start} itself.
     */
    public static RepositoryFiles find(Path start) {
        Optional<Path> shared =
                Optional.ofNullable(System.getProperty("shared.dir")).map(Path::of);
        String named = System.getProperty("poolbench.root");
        if (named != null) {
            return new RepositoryFiles(Path.of(named), shared);
        }
        for (Path folder = start.toAbsolutePath().normalize(); folder != null; folder = folder.getParent()) {
            if (Files.isDirectory(folder.resolve("experiments/definitions"))) {
                return new RepositoryFiles(folder, shared);
            }
        }
        return new RepositoryFiles(start.toAbsolutePath().normalize(), shared);
    }

    /** A path as a definition gives it: relative to the root, or absolute. */
    Path resolve(String path) {
        if (shared.isPresent() && path.startsWith(SHARED)) {
            return shared.get().resolve(path.substring(SHARED.length()));
        }
        return root.resolve(path).normalize();
    }

    Path reportedFigures() {
        return root.resolve("experiments/reported.csv");
    }

    /** The folder that a run of this experiment goes into, {@code <date>.<n>} below it. */
    public Path results(String experiment) {
        return root.resolve("experiments/results").resolve(experiment);
    }
}
