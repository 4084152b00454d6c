package org.expertpool.harness.cli;

import java.util.Arrays;
import org.expertpool.harness.sim.SimulationRequest;
import org.expertpool.pool.policy.Scope;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options of each command that plans over a trace. */
final class PlannerOptions {
    @Option(
            names = "--scope",
            defaultValue = "global",
            converter = ScopeName.class,
            description =
                    "global: a miss may take any row; layer: only its own layer's; miss-curve: the same, rows split by"
                            + " the layers' LRU misses over the first half of the trace. Default ${DEFAULT-VALUE}.")
    private Scope scope;

    @Option(
            names = "--decode-tokens",
            defaultValue = "1",
            paramLabel = "T",
            description = "Tokens of the widest forward that is planned. Default ${DEFAULT-VALUE}.")
    private int decodeTokens;

    int decodeTokens() {
        return decodeTokens;
    }

    SimulationRequest apply(SimulationRequest request) {
        return request.withScope(scope).withDecodeTokens(decodeTokens);
    }

    /** Takes the names that result files use, and no others. */
    static final class ScopeName implements ITypeConverter<Scope> {
        @Override
        public Scope convert(String text) {
            return named(Scope.values(), text);
        }
    }

    /** The value whose text that is. */
    static <T> T named(T[] values, String text) {
        return Arrays.stream(values)
                .filter(value -> value.toString().equals(text))
                .findFirst()
                .orElseThrow(() -> new TypeConversionException(
                        "expected one of " + Arrays.toString(values) + " but was '" + text + "'"));
    }
}
