package org.expertpool.pool.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A policy by its full name: a base, and parts that change its promotion, scope, start or controls. */
public final class PolicyKind {
    private record Use(PolicyPart part, PolicyArguments arguments) {}

    private final List<Use> uses = new ArrayList<>(); // the base first
    private final String fullName;

    /** @param parts registry entry of each part of the name, the base first */
    PolicyKind(String text, PolicyName name, List<PolicyPart> parts) {
        List<PolicyName.Part> full = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            PolicyPart part = parts.get(i);
            PolicyArguments arguments =
                    PolicyArguments.of(text, part, name.parts().get(i).arguments());
            uses.add(new Use(part, arguments));
            full.add(new PolicyName.Part(part.name(), arguments.formatted()));
        }
        fullName = new PolicyName(full).toString();
    }

    /** The dotted name with every parameter, as it stands in result files. */
    public String fullName() {
        return fullName;
    }

    /** What the settled setup must hold beside what it holds already: a profile and so on. */
    public Set<Knowledge> knowledge(PolicySetup settled) {
        Set<Knowledge> knowledge = new TreeSet<>(uses.get(0).part.knowledge());
        if (settled.initial() == Initial.PROFILE || settled.pinnedPercent() > 0) {
            knowledge.add(Knowledge.PROFILE);
        }
        if (settled.scope() == Scope.MISS_CURVE) {
            knowledge.add(Knowledge.LAYER_ROWS);
        }
        return knowledge;
    }

    /** The setup with what the name says of scope, start and controls. */
    public PolicySetup settle(PolicySetup setup) {
        PolicySetup settled = setup;
        for (Use use : uses) {
            if (use.part.role() instanceof PolicyPart.Setting setting) {
                settled = setting.change().apply(settled, use.arguments);
            }
        }
        return settled;
    }

    /** Makes the policy at its start; the setup must hold what {@link #knowledge} asks for. */
    public PlacementPolicy create(PolicySetup setup) {
        PolicySetup settled = settle(setup);
        Use base = uses.get(0);
        if (base.part.role() instanceof PolicyPart.Whole whole) {
            return whole.make().apply(settled, base.arguments);
        }
        PolicyPart.Eviction eviction = (PolicyPart.Eviction) base.part.role();
        PoolState state = new PoolState(settled);
        List<PromotionRule> rules = new ArrayList<>();
        for (Use use : uses) {
            if (use.part.role() instanceof PolicyPart.Promotion promotion) {
                rules.add(promotion.make().apply(state, use.arguments));
            }
        }
        EvictionOrder order = eviction.make().apply(state, base.arguments);
        boolean inLaneOrder = order instanceof LruOrder && rules.isEmpty();
        return new PlannedPolicy(state, order, rules, settled.controls(), inLaneOrder);
    }

    /**
     * What a planner in one block keeps for this policy with such a pool, beside its own tables; empty where some part of it
     * does not fit one: lists, floating point, knowledge of the future, a host.
     */
    public Optional<DeviceState> deviceState(PolicySetup setup) {
        PolicySetup settled = settle(setup);
        if (!(uses.get(0).part.role() instanceof PolicyPart.Eviction eviction)) {
            return Optional.empty();
        }
        PoolState state = new PoolState(settled);
        Optional<DeviceState> whole =
                eviction.make().apply(state, uses.get(0).arguments).deviceState();
        for (Use use : uses) {
            if (use.part.role() instanceof PolicyPart.Promotion promotion) {
                Optional<DeviceState> rule =
                        promotion.make().apply(state, use.arguments).deviceState();
                whole = whole.flatMap(before -> rule.map(before::with));
            }
        }
        return whole;
    }

    @Override
    public String toString() {
        return fullName;
    }
}
