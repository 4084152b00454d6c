package org.expertpool.harness.run;

import java.io.IOException;
import java.util.List;

/** Runs this command line in a process of its own, to its end. */
@FunctionalInterface
public interface RunProcess {
    /** The exit code of {@code poolbench} with these arguments. */
    int run(List<String> arguments) throws IOException;
}
