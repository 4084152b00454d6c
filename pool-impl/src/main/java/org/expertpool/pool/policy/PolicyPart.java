package org.expertpool.pool.policy;

import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * A line of the registry: one part of a policy's name, and what it makes.
 *
 * @param name dotted name
 * @param parameters what its parentheses hold, in order
 * @param knowledge what a policy of its own must be told of the trace
 * @param role what it makes of the setup
 */
record PolicyPart(String name, List<PolicyParameter> parameters, Set<Knowledge> knowledge, Role role) {
    /** What a part contributes to a policy. */
    sealed interface Role {}

    /** A policy of its own, without the planner's step. */
    record Whole(BiFunction<PolicySetup, PolicyArguments, PlacementPolicy> make) implements Role {}

    /** The planner's step with this order of eviction. */
    record Eviction(BiFunction<PoolState, PolicyArguments, EvictionOrder> make) implements Role {}

    /** A rule that the planner's step asks before it promotes. */
    record Promotion(BiFunction<PoolState, PolicyArguments, PromotionRule> make) implements Role {}

    /** Another setup: scope, start, controls. */
    record Setting(BiFunction<PolicySetup, PolicyArguments, PolicySetup> change) implements Role {}

    /** The name and, in order, what its parentheses hold by default. */
    String describe() {
        String given = parameters.stream()
                .map(parameter -> parameter.name() + " = " + PolicyParameter.format(parameter.initial()))
                .collect(Collectors.joining(", "));
        return given.isEmpty() ? name : name + "(" + given + ")";
    }

    static PolicyPart whole(
            String name,
            Set<Knowledge> knowledge,
            BiFunction<PolicySetup, PolicyArguments, PlacementPolicy> make,
            PolicyParameter... parameters) {
        return new PolicyPart(name, List.of(parameters), knowledge, new Whole(make));
    }

    static PolicyPart eviction(
            String name, BiFunction<PoolState, PolicyArguments, EvictionOrder> make, PolicyParameter... parameters) {
        return new PolicyPart(name, List.of(parameters), Set.of(), new Eviction(make));
    }

    static PolicyPart promotion(
            String name, BiFunction<PoolState, PolicyArguments, PromotionRule> make, PolicyParameter... parameters) {
        return new PolicyPart(name, List.of(parameters), Set.of(), new Promotion(make));
    }

    static PolicyPart setting(
            String name, BiFunction<PolicySetup, PolicyArguments, PolicySetup> change, PolicyParameter... parameters) {
        return new PolicyPart(name, List.of(parameters), Set.of(), new Setting(change));
    }
}
