package org.expertpool.harness.doctor;

import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.GraphicsEnvironment;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import org.expertpool.harness.io.HostRam;

/** JDK, Maven, compilers, memory limits, plotting and the shared data. */
final class HostFindings {
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final double GIB = 1L << 30;
    private static final Path MEMORY = Path.of("/proc/meminfo");

    private final Commands commands;

    HostFindings(Commands commands) {
        this.commands = commands;
    }

    List<Finding> all() {
        return List.of(
                new Finding("jdk", Finding.State.OK, jdk(), ""),
                program("maven", "mvn", "install Maven 3.8 or newer; without it nothing is rebuilt"),
                program("c compiler", "gcc", "install gcc; tests that build a stub driver are skipped"),
                program(
                        "c++ compiler",
                        "g++",
                        "install g++; the layout probe and the kernels' run on the CPU are skipped"),
                memory(),
                pinnedLimit(),
                plotting(),
                sharedData());
    }

    private static String jdk() {
        return "%s %s, %s, flags %s"
                .formatted(
                        System.getProperty("java.vm.vendor"),
                        System.getProperty("java.runtime.version"),
                        System.getProperty("java.home"),
                        ManagementFactory.getRuntimeMXBean().getInputArguments());
    }

    private Finding program(String name, String program, String advice) {
        Optional<Path> found = commands.find(program);
        return found.map(path -> Finding.ok(name, path.toString()))
                .orElseGet(() -> Finding.missing(name, program + " is not on the path", advice));
    }

    private static Finding memory() {
        return lineOf(MEMORY, "MemTotal:")
                .map(total -> Finding.ok("host memory", total + available()))
                .orElseGet(() -> Finding.missing(
                        "host memory", "no " + MEMORY, "Linux only; the whole of a host source must fit in memory"));
    }

    /** What a host source may take: it must lie there as a whole. */
    private static String available() {
        OptionalLong bytes = HostRam.available();
        return bytes.isEmpty() ? "" : String.format(Locale.ROOT, ", %.1f GiB available", bytes.getAsLong() / GIB);
    }

    private static Finding pinnedLimit() {
        return lineOf(LIMITS, "Max locked memory")
                .map(value -> Finding.ok("pinned memory limit", value.replaceAll("\\s+", " ") + " (soft, hard)"))
                .orElseGet(() -> Finding.missing("pinned memory limit", "no " + LIMITS, "Linux only; see ulimit -l"));
    }

    private static Optional<String> lineOf(Path file, String start) {
        try {
            return Files.readAllLines(file).stream()
                    .filter(line -> line.startsWith(start))
                    .map(line -> line.substring(start.length()).strip())
                    .findFirst();
        } catch (IOException absent) {
            return Optional.empty();
        }
    }

    /** Draws a word without a screen; a JDK without fontconfig or fonts fails with an error of some kind. */
    private static Finding plotting() {
        try {
            BufferedImage image = new BufferedImage(200, 50, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = image.createGraphics();
            graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, 20));
            graphics.drawString("tok/s", 10, 30);
            graphics.dispose();
            int families = GraphicsEnvironment.getLocalGraphicsEnvironment().getAvailableFontFamilyNames().length;
            return Finding.ok("plotting", "headless text works, " + families + " font families");
        } catch (LinkageError | RuntimeException | InternalError failure) {
            return Finding.missing(
                    "plotting",
                    "no text can be drawn: " + failure,
                    "install fontconfig and a font (Debian: fontconfig fonts-dejavu-core), and a JDK that is not headless-only");
        }
    }

    private static Finding sharedData() {
        Path root = Path.of(System.getProperty("poolbench.root", "")).toAbsolutePath();
        Path shared = Path.of(System.getProperty(
                        "shared.dir", root.resolve("../shared").toString()))
                .normalize();
        if (Files.isDirectory(shared.resolve("data"))) {
            return Finding.ok("shared data", shared.toString());
        }
        return Finding.missing(
                "shared data",
                "no data folder in " + shared,
                "put the recorded traces there or set -Dshared.dir; runs and tests on real traces are skipped");
    }
}
