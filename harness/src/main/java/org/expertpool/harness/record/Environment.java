package org.expertpool.harness.record;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.expertpool.pool.cuda.KernelBinary;

/**
 * The machine and the code that a run ran on, as JSON. Things that are not there are null. Host names and paths stay
 * out, since result folders are published: a host is told from another by a short hash of its name.
 */
public final class Environment {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final int SHORT_HASH = 12;
    private static final long KIB = 1024;
    private static final List<String> GPU_FIELDS = List.of(
            "name",
            "uuid",
            "driver_version",
            "memory.total",
            "ecc.mode.current",
            "pcie.link.gen.current",
            "pcie.link.gen.max",
            "pcie.link.width.current",
            "pcie.link.width.max",
            "clocks.sm",
            "clocks.mem",
            "power.limit",
            "temperature.gpu",
            "clocks_throttle_reasons.active");

    private Environment() {}

    /** Collects what can be known; {@code root} is the repository root, which need not be a git checkout. */
    public static ObjectNode collect(Path root) throws IOException {
        ObjectNode environment = JSON.objectNode();
        environment.set("code", code(root));
        environment.set("java", java());
        environment.set("host", host());
        environment.set("gpu", gpu(root));
        return environment;
    }

    /** The git revision of {@code root}, with {@code -dirty} where files differ from it; empty outside a checkout. */
    public static Optional<String> revision(Path root) {
        return CommandOutput.of(root, "git", "rev-parse", "HEAD").map(head -> head + (isDirty(root) ? "-dirty" : ""));
    }

    /** A short hash that tells this host from others. */
    public static String hostHash() {
        String name = firstLine(Path.of("/proc/sys/kernel/hostname")).orElse("unknown");
        return CodeHash.ofText(name).substring(0, SHORT_HASH);
    }

    private static boolean isDirty(Path root) {
        return CommandOutput.of(root, "git", "status", "--porcelain", "--untracked-files=no")
                .map(changes -> !changes.isEmpty())
                .orElse(false);
    }

    private static ObjectNode code(Path root) throws IOException {
        ObjectNode code = JSON.objectNode();
        Optional<String> head = CommandOutput.of(root, "git", "rev-parse", "HEAD");
        code.put("git_revision", head.orElse(null));
        if (head.isPresent()) {
            code.put("git_dirty", isDirty(root));
        } else {
            code.putNull("git_dirty");
        }
        code.put("harness_sha256", CodeHash.ofCode(Environment.class));
        if (KernelBinary.describe() instanceof KernelBinary.Built built) {
            code.put("kernels_sha256", built.sha256());
            code.put("kernel_sources_sha256", built.sourcesSha256());
        } else {
            code.putNull("kernels_sha256");
            code.putNull("kernel_sources_sha256");
        }
        code.put("results_schema", ResultsSchema.VERSION);
        return code;
    }

    private static ObjectNode java() {
        ObjectNode java = JSON.objectNode();
        java.put("version", System.getProperty("java.version"));
        java.put("vendor", System.getProperty("java.vendor"));
        java.put("vm", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        java.put("max_heap_bytes", Runtime.getRuntime().maxMemory());
        var collectors = java.putArray("collectors");
        ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName)
                .forEach(collectors::add);
        // System properties are left out: they hold paths of this machine.
        var flags = java.putArray("flags");
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("-X") || flag.startsWith("--"))
                .forEach(flags::add);
        return java;
    }

    private static ObjectNode host() {
        ObjectNode host = JSON.objectNode();
        host.put("name_sha256_12", hostHash());
        host.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        host.put("arch", System.getProperty("os.arch"));
        host.put("cpu", field(Path.of("/proc/cpuinfo"), "model name").orElse(null));
        host.put("logical_cores", Runtime.getRuntime().availableProcessors());
        Optional<Long> kib = field(Path.of("/proc/meminfo"), "MemTotal")
                .map(text -> text.replaceAll("[^0-9]", ""))
                .filter(digits -> !digits.isEmpty())
                .map(Long::valueOf);
        host.put("memory_bytes", kib.map(size -> size * KIB).orElse(null));
        return host;
    }

    /** One object per device as nvidia-smi tells it, or null without it. */
    private static JsonNode gpu(Path root) {
        Optional<String> output = CommandOutput.of(
                root, "nvidia-smi", "--query-gpu=" + String.join(",", GPU_FIELDS), "--format=csv,noheader");
        if (output.isEmpty()) {
            return JSON.nullNode();
        }
        var devices = JSON.arrayNode();
        for (String line : output.get().split("\\R")) {
            String[] values = line.split(",", -1);
            ObjectNode device = devices.addObject();
            for (int i = 0; i < Math.min(values.length, GPU_FIELDS.size()); i++) {
                device.put(GPU_FIELDS.get(i).replace('.', '_').toLowerCase(Locale.ROOT), values[i].strip());
            }
        }
        return devices;
    }

    private static Optional<String> field(Path file, String name) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip());
        } catch (IOException absent) {
            return Optional.empty();
        }
    }

    private static Optional<String> firstLine(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.findFirst();
        } catch (IOException absent) {
            return Optional.empty();
        }
    }
}
