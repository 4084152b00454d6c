package org.expertpool.pool.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Properties;

/** What the kernels' build left in the jar: a fat binary, or the reason why there is none. */
public sealed interface KernelBinary {
    /** Folder of the resources that kernels-cu packs. */
    String FOLDER = "/org/expertpool/kernels/";

    /**
     * Kernels are in the jar.
     *
     * @param architectures machine code (sm) and intermediate code (compute) inside
     * @param sha256 of the fat binary, in hex; line numbers in it name the folder of the build
     * @param sourcesSha256 of what it was built from, the same in any folder
     */
    record Built(
            String nvccVersion,
            String flags,
            List<String> architectures,
            int layoutVersion,
            String sha256,
            String sourcesSha256)
            implements KernelBinary {
        public Built {
            architectures = List.copyOf(architectures);
        }
    }

    /** No kernels are in the jar. */
    record Skipped(String reason) implements KernelBinary {}

    /** Reads pool.properties from the class path. */
    static KernelBinary describe() {
        try (InputStream resource = KernelBinary.class.getResourceAsStream(FOLDER + "pool.properties")) {
            if (resource == null) {
                return new Skipped("no kernels-cu resources on the class path");
            }
            Properties properties = new Properties();
            properties.load(resource);
            return describe(properties);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Interprets the properties that the build script writes. */
    static KernelBinary describe(Properties properties) {
        if (!"built".equals(properties.getProperty("status"))) {
            return new Skipped(properties.getProperty("reason", "pool.properties has no status=built"));
        }
        return new Built(
                properties.getProperty("nvcc"),
                properties.getProperty("flags"),
                List.of(properties.getProperty("architectures").split(",")),
                Integer.parseInt(properties.getProperty("layout.version")),
                properties.getProperty("sha256"),
                properties.getProperty("sources.sha256"));
    }
}
