package org.expertpool.pool.cuda;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.expertpool.pool.cuda.CudaStatus.DriverKind;

/** Finds the driver library where the dynamic linker would, without loading anything. */
final class DriverLibrary {
    static final String NAME = "libcuda.so.1";

    /** Symbol that the stub driver of the tests exports, and no real one does. */
    static final String STUB_MARKER = "expertpool_stub_driver";

    /** The stub has some 20 KB, a real driver tens of MB: larger files are not searched for the marker. */
    private static final long STUB_BYTES_MOST = 1 << 20;

    private static final Path LINKER_CACHE = Path.of("/etc/ld.so.cache");

    private DriverLibrary() {}

    /** The first match of the search path, then the linker's cache, then the usual folders. */
    static Optional<Path> find(String searchPath) {
        List<Path> candidates = new ArrayList<>();
        for (String folder : searchPath.split(":", -1)) {
            if (!folder.isEmpty()) {
                candidates.add(Path.of(folder, NAME));
            }
        }
        candidates.addAll(cached());
        for (String folder : List.of("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")) {
            candidates.add(Path.of(folder, NAME));
        }
        return candidates.stream()
                .filter(path -> Files.isReadable(path) && !Files.isDirectory(path))
                .findFirst();
    }

    static DriverKind kind(Path library) throws IOException {
        if (Files.size(library) > STUB_BYTES_MOST) {
            return DriverKind.REAL;
        }
        String bytes = Files.readString(library, StandardCharsets.ISO_8859_1);
        return bytes.contains(STUB_MARKER) ? DriverKind.STUB : DriverKind.REAL;
    }

    /** The cache's string table holds each library's path, ended by a zero byte. */
    private static List<Path> cached() {
        try {
            String cache = Files.readString(LINKER_CACHE, StandardCharsets.ISO_8859_1);
            return Arrays.stream(cache.split("\0"))
                    .filter(entry -> entry.startsWith("/") && entry.endsWith("/" + NAME))
                    .map(Path::of)
                    .toList();
        } catch (IOException absent) {
            return List.of();
        }
    }
}
