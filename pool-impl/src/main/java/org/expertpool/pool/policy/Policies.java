package org.expertpool.pool.policy;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/** The registry of placement policies: a line for each. */
public final class Policies {
    private static final List<PolicyKind> KINDS = List.of(
            new PolicyKind("evict.lru", "lru", Knowledge.NONE, setup -> planned(setup, LruOrder::new)),
            new PolicyKind("static.profile", "static", Knowledge.PROFILE, StaticPolicy::new),
            new PolicyKind("static.profile-leaky", "static-leaky", Knowledge.SCORED_PROFILE, StaticPolicy::new),
            new PolicyKind("bound.belady", "belady", Knowledge.FUTURE, setup -> new BeladyPolicy(setup, false)),
            new PolicyKind(
                    "bound.belady-forced", "belady-forced", Knowledge.FUTURE, setup -> new BeladyPolicy(setup, true)));

    private Policies() {}

    /** The policy of a full name or alias; refuses any other, with those that are known. */
    public static PolicyKind named(String text) {
        PolicyName name = PolicyName.parse(text);
        PolicyName.Part first = name.parts().get(0);
        PolicyKind kind = KINDS.stream()
                .filter(known ->
                        known.fullName().equals(first.name()) || known.alias().equals(first.name()))
                .findFirst()
                .orElseThrow(() -> unknown(text, first));
        if (!first.arguments().isEmpty()) {
            throw new BadInputException("policy \"" + text + "\": " + kind.fullName() + " takes no arguments");
        }
        if (name.parts().size() > 1) {
            throw unknown(text, name.parts().get(1));
        }
        return kind;
    }

    private static PlacementPolicy planned(PolicySetup setup, Function<PoolState, EvictionOrder> order) {
        PoolState state = new PoolState(setup);
        return new PlannedPolicy(state, order.apply(state), setup.controls());
    }

    private static BadInputException unknown(String text, PolicyName.Part part) {
        String known = KINDS.stream()
                .map(kind -> kind.fullName() + " (" + kind.alias() + ")")
                .collect(Collectors.joining(", "));
        return new BadInputException(
                "policy \"" + text + "\": " + part.name() + " is not known here, expected one of " + known);
    }
}
