package org.expertpool.pool.policy;

import java.util.function.Function;

/**
 * An entry of the registry.
 *
 * @param fullName dotted name, as it stands in result files
 * @param alias short name that options accept as well
 * @param knowledge what the setup must hold
 * @param factory makes the policy at its start
 */
public record PolicyKind(
        String fullName, String alias, Knowledge knowledge, Function<PolicySetup, PlacementPolicy> factory) {
    /** Makes the policy; the setup must hold what {@link #knowledge} asks for. */
    public PlacementPolicy create(PolicySetup setup) {
        return factory.apply(setup);
    }
}
