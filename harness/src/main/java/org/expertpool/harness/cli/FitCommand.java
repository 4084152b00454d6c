package org.expertpool.harness.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.harness.run.FitRun;
import org.expertpool.pool.BadInputException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code poolbench fit}: the model of a device beside what was measured on it. */
@Command(
        name = "fit",
        description = "Hold measured decode cells beside a device profile, and fit constants of it to them.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Takes the measured cells of one token a forward, engines resident, pool and uva; counts are simulated anew,",
            "times come from the cost model. Least squares of the logarithm of modelled over measured time.",
            "Without --free nothing is fitted: the profile is judged as it is."
        })
final class FitCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", arity = "1..*", description = "Results of finished runs.")
    private List<Path> directories;

    @Option(
            names = "--profile",
            paramLabel = "PROFILE",
            required = true,
            description = "Where constants start: a known profile or a .toml file.")
    private String profile;

    @Option(names = "--free", paramLabel = "KEYS", split = ",", description = "Constants that are fitted.")
    private List<String> free = List.of();

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "The new profile's name (default: fitted; without --free its own).")
    private String name;

    @Option(names = "--out", paramLabel = "DIR", description = "Gets profile.toml and results.csv, for plot.")
    private Path out;

    @Option(
            names = "--within",
            paramLabel = "SHARE",
            description = "Exit with 1 if a cell's error is larger, such as 0.1 for 10 %%.")
    private Double within;

    @Override
    public Integer call() throws Exception {
        if (within != null && !(within > 0 && within < 1)) {
            throw new BadInputException("--within is " + within + ", expected more than 0 and below 1");
        }
        DeviceProfile start = DeviceProfile.load(profile);
        FitRun run = FitRun.of(directories);
        String on = run.size() + " measured decode cells of "
                + String.join(
                        ", ",
                        directories.stream()
                                .map(directory -> directory
                                                .toAbsolutePath()
                                                .normalize()
                                                .getParent()
                                                .getFileName() + "/" + directory.getFileName())
                                .toList());
        DeviceProfile fitted = free.isEmpty() ? start : run.fit(start, free, "least squares over " + on);
        double worst = run.worst(fitted);
        System.out.print(run.table(fitted));
        free.forEach(key ->
                System.out.printf(Locale.ROOT, "%s: %.6g (was %.6g)%n", key, fitted.value(key), start.value(key)));
        System.out.printf(Locale.ROOT, "largest error %.1f %%%n", worst * 100);
        if (out != null) {
            String fittedOn = free.isEmpty()
                    ? start.fittedOn()
                    : String.join(", ", free) + " on " + on
                            + String.format(Locale.ROOT, ", within %.1f %%", worst * 100) + "; the others as in "
                            + start.name();
            String own = free.isEmpty() ? start.name() : "fitted";
            run.write(out, fitted, name == null ? own : name, fittedOn);
        }
        return within != null && worst > within ? ExitCode.SOFTWARE : ExitCode.OK;
    }
}
