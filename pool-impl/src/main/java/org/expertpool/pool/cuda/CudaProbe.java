package org.expertpool.pool.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Asks whether CUDA can be used here, and never fails: JCuda's classes are first touched when the driver library has
 * been found, because their initialiser throws without it.
 */
public final class CudaProbe {
    private static final String TEMPORARY_FOLDER = "java.io.tmpdir";
    private static final String LINK_ERROR = "java.lang.UnsatisfiedLinkError: ";

    private CudaProbe() {}

    /** Looks for the driver, then asks it for its devices. Not to be called from several threads at once. */
    public static CudaStatus probe() {
        String searchPath =
                Optional.ofNullable(System.getenv("LD_LIBRARY_PATH")).orElse("");
        Optional<Path> library = DriverLibrary.find(searchPath);
        if (library.isEmpty()) {
            return new CudaStatus.Missing(
                    "no " + DriverLibrary.NAME + " in LD_LIBRARY_PATH, the linker cache or /usr/lib");
        }
        try {
            return withPrivateTemporaryFolder(() -> query(library.get()));
        } catch (LinkageError | RuntimeException | IOException failure) {
            String reason = reason(failure).replace(library.get() + ": ", "");
            return new CudaStatus.Missing(library.get() + " does not load: " + reason);
        }
    }

    private static CudaStatus query(Path library) throws IOException {
        List<CudaDevice> devices;
        String version;
        try {
            version = DriverQuery.cudaVersion();
            devices = DriverQuery.devices();
        } catch (DriverQuery.DriverException refused) {
            return new CudaStatus.Missing(library + ": " + refused.getMessage());
        }
        if (devices.isEmpty()) {
            return new CudaStatus.Missing(library + " has no device");
        }
        return new CudaStatus.Available(DriverLibrary.kind(library), library, version, devices);
    }

    /**
     * JCuda unpacks its native part into the temporary folder under a fixed name and takes whatever lies there: another
     * user's or version's file. A folder of its own, removed once the library is loaded, rules that out.
     */
    private static CudaStatus withPrivateTemporaryFolder(Query query) throws IOException {
        Path folder = Files.createTempDirectory("expertpool-natives");
        String shared = System.getProperty(TEMPORARY_FOLDER);
        System.setProperty(TEMPORARY_FOLDER, folder.toString());
        try {
            return query.run();
        } finally {
            System.setProperty(TEMPORARY_FOLDER, shared);
            delete(folder);
        }
    }

    private interface Query {
        CudaStatus run() throws IOException;
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(path -> {
                try {
                    Files.delete(path);
                } catch (IOException failure) {
                    throw new UncheckedIOException(failure);
                }
            });
        }
    }

    /** The linker's words where there are some: JCuda tells of all it tried, and a second time the JVM tells of the first. */
    private static String reason(Throwable failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            Optional<String> last = String.valueOf(at.getMessage())
                    .lines()
                    .filter(line -> line.startsWith(LINK_ERROR))
                    .reduce((earlier, later) -> later);
            if (last.isPresent()) {
                return last.get().substring(LINK_ERROR.length()).replaceFirst("^\\S*JCudaDriver\\S*: ", "");
            }
        }
        String message = String.valueOf(failure.getMessage()).strip();
        return message.lines().findFirst().orElse(failure.getClass().getSimpleName());
    }
}
