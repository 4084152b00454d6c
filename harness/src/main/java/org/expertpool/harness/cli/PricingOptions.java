package org.expertpool.harness.cli;

import java.util.Optional;
import org.expertpool.harness.analysis.Pricing;
import org.expertpool.harness.cost.DeviceProfile;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.checkpoint.Models;
import picocli.CommandLine.Option;

/** What turns counts into bytes and modelled times, where a user wants them. */
final class PricingOptions {
    @Option(names = "--model", description = "Model preset, .toml file or checkpoint, for bytes over the link.")
    private String model;

    @Option(names = "--device", description = "Device profile, for modelled times; needs --model.")
    private String device;

    @Option(
            names = "--context",
            defaultValue = "4096",
            description = "Context in tokens, for modelled times. Default ${DEFAULT-VALUE}.")
    private long context;

    Optional<Pricing> pricing() {
        if (model == null) {
            if (device != null) {
                throw new BadInputException("--device " + device + ": expected --model beside it");
            }
            return Optional.empty();
        }
        return Optional.of(
                new Pricing(Models.geometry(model), Optional.ofNullable(device).map(DeviceProfile::load), context));
    }
}
