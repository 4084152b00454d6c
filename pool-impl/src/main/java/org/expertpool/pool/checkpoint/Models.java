package org.expertpool.pool.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.expertpool.pool.BadInputException;
import org.expertpool.pool.model.ModelGeometry;
import org.expertpool.pool.model.ModelPresets;

/** A model by whatever a user names it: a preset, a TOML file of sizes, a checkpoint directory. */
public final class Models {
    private Models() {}

    /**
     * The sizes of a model.
     *
     * @throws BadInputException neither of the three, or one that is not as it must be
     */
    public static ModelGeometry geometry(String nameOrPath) {
        return isCheckpoint(nameOrPath) ? open(Path.of(nameOrPath)).geometry() : ModelPresets.load(nameOrPath);
    }

    /** Whether this names a directory that is there; a preset's name is always the preset. */
    public static boolean isCheckpoint(String nameOrPath) {
        return !ModelPresets.NAMES.contains(nameOrPath) && Files.isDirectory(Path.of(nameOrPath));
    }

    /** Opens a checkpoint; a file that the system refuses to read is bad input too. */
    public static Checkpoint open(Path folder) {
        try {
            return Checkpoint.open(folder);
        } catch (IOException unreadable) {
            throw new BadInputException(folder + ": cannot be read: " + unreadable.getMessage(), unreadable);
        }
    }
}
