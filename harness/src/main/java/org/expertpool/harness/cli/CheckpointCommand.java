package org.expertpool.harness.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code poolbench checkpoint}: the checkpoint tools. */
@Command(
        name = "checkpoint",
        description = "Look at checkpoints: ModelOpt NVFP4 in safetensors files.",
        mixinStandardHelpOptions = true,
        subcommands = CheckpointInfoCommand.class)
final class CheckpointCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
