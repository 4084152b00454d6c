package org.expertpool.pool.policy;

import static org.expertpool.pool.policy.PolicyParameter.decimal;
import static org.expertpool.pool.policy.PolicyParameter.whole;
import static org.expertpool.pool.policy.PolicyPart.eviction;
import static org.expertpool.pool.policy.PolicyPart.promotion;
import static org.expertpool.pool.policy.PolicyPart.setting;
import static org.expertpool.pool.policy.PolicyPart.whole;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/** The registry of placement policies: a line for each part of a name. */
public final class Policies {
    private static final int MANY = Integer.MAX_VALUE;

    private static final List<PolicyPart> PARTS = List.of(
            eviction("evict.lru", (state, given) -> new LruOrder(state)),
            eviction(
                    "evict.random",
                    (state, given) -> new RandomOrder(state, given.whole(0)),
                    whole("seed", 1, 0, MANY)),
            eviction("evict.fifo", (state, given) -> new FifoOrder(state)),
            eviction("evict.clock", (state, given) -> new ClockOrder(state)),
            eviction("evict.sieve", (state, given) -> new SieveOrder(state)),
            eviction("evict.s3-fifo", (state, given) -> new S3FifoOrder(state)),
            eviction("evict.2q", (state, given) -> new TwoQueueOrder(state)),
            eviction("evict.arc", (state, given) -> new ArcOrder(state)),
            eviction("evict.lru-2", (state, given) -> new Lru2Order(state)),
            eviction("evict.lfu", (state, given) -> LfuOrder.neverAged(state)),
            eviction(
                    "evict.lfu-halving",
                    (state, given) -> LfuOrder.halved(state, given.whole(0)),
                    whole("period in forwards", 64, 1, MANY)),
            eviction(
                    "evict.lfu-decayed",
                    (state, given) -> new DecayedOrder(state, given.decimal(0), false),
                    decimal("decay per forward", "0.98", "0.5", "1")),
            eviction(
                    "evict.gate-ewma",
                    (state, given) -> new DecayedOrder(state, given.decimal(0), true),
                    decimal("decay per forward", "0.98", "0.5", "1")),
            eviction("evict.lfru", (state, given) -> new LfruOrder(state)),
            eviction(
                    "evict.w-tinylfu",
                    (state, given) -> new WTinyLfuOrder(state, given.whole(0)),
                    whole("window in percent of rows", 1, 0, 99)),
            eviction("evict.least-stale", (state, given) -> LayeredOrder.leastStale(state)),
            eviction("evict.layered-lru", (state, given) -> LayeredOrder.layeredLru(state)),
            promotion(
                    "promote.nth-touch",
                    (state, given) -> new NthTouchRule(state, given.whole(0), given.whole(1)),
                    whole("touches", 2, 1, 64),
                    whole("window in forwards", 8, 1, MANY)),
            promotion(
                    "promote.hotter",
                    (state, given) -> new HotterRule(state, given.whole(0), given.decimal(1), false),
                    whole("half-life in forwards", 64, 1, 16384),
                    decimal("margin", "0", "0", "16384")),
            promotion(
                    "promote.hotter-weighted",
                    (state, given) -> new HotterRule(state, given.whole(0), given.decimal(1), true),
                    whole("half-life in forwards", 64, 1, 16384),
                    decimal("margin", "0", "0", "16384")),
            promotion(
                    "promote.router-weight",
                    (state, given) -> new RouterWeightRule((float) given.decimal(0)),
                    decimal("least weight", "0.1", "0", "1")),
            promotion(
                    "promote.probability",
                    (state, given) -> new ProbabilityRule(given.decimal(0), given.whole(1)),
                    decimal("probability", "0.25", "0", "1"),
                    whole("seed", 1, 0, MANY)),
            control("promote.insert-cap", "promoteLimit", 1, 1),
            control("promote.interval", "promoteInterval", 2, 1),
            control("promote.min-misses", "promoteMinMisses", 2, 1),
            control("promote.protect-recent", "protectRecent", 1, 0),
            scope(Scope.GLOBAL),
            scope(Scope.LAYER),
            scope(Scope.MISS_CURVE),
            setting("start.profile", (setup, given) -> setup.withInitial(Initial.PROFILE)),
            setting(
                    "pin.profile",
                    (setup, given) -> setup.withPinnedPercent(given.whole(0)),
                    whole("percent of rows", 50, 0, 100)),
            whole("static.profile", Set.of(Knowledge.PROFILE), (setup, given) -> new StaticPolicy(setup)),
            whole("static.profile-leaky", Set.of(Knowledge.SCORED_PROFILE), (setup, given) -> new StaticPolicy(setup)),
            whole(
                    "heat.exchange",
                    Set.of(),
                    (setup, given) -> new HeatExchangePolicy(
                            setup, given.decimal(0), given.whole(1), given.decimal(2), given.whole(3)),
                    decimal("decay per forward", "0.999", "0.5", "1"),
                    whole("period in forwards", 50, 1, MANY),
                    decimal("hysteresis factor", "1.3", "1", "1000"),
                    whole("exchanges per forward", 8, 1, MANY)),
            whole("bound.belady", Set.of(Knowledge.FUTURE), (setup, given) -> new BeladyPolicy(setup, false)),
            whole("bound.belady-forced", Set.of(Knowledge.FUTURE), (setup, given) -> new BeladyPolicy(setup, true)));

    /** Short names of whole policies; beside these, every {@code evict.x} and {@code bound.x} is {@code x}. */
    private static final Map<String, String> ALIASES = Map.of(
            "static", "static.profile",
            "static-leaky", "static.profile-leaky",
            "heat", "heat.exchange",
            "half-pinned", "evict.lru+pin.profile(50)");

    private Policies() {}

    /** Every part in the order of the registry, with its parameters and their defaults, a line each. */
    public static List<String> describe() {
        return PARTS.stream().map(PolicyPart::describe).collect(Collectors.toUnmodifiableList());
    }

    static List<PolicyPart> parts() {
        return PARTS;
    }

    /**
     * The policy of a name: a base (or nothing, for {@code evict.lru}), then promotion rules and settings. Bases and their
     * short names take no rule where they have no planner's step. Refuses any other name, with those that are known.
     */
    public static PolicyKind named(String text) {
        List<PolicyName.Part> written = new ArrayList<>(PolicyName.parse(text).parts());
        String alias = ALIASES.get(written.get(0).name());
        if (alias != null) {
            List<PolicyName.Part> meant = PolicyName.parse(alias).parts();
            written.set(
                    0, new PolicyName.Part(meant.get(0).name(), written.get(0).arguments()));
            written.addAll(1, meant.subList(1, meant.size()));
        } else if (written.get(0).name().startsWith("promote.")) {
            written.add(0, new PolicyName.Part("evict.lru", List.of()));
        }
        List<PolicyPart> parts = new ArrayList<>();
        for (PolicyName.Part part : written) {
            PolicyPart known = find(text, part, parts.isEmpty());
            if (parts.contains(known)) {
                throw new BadInputException("policy \"" + text + "\": " + known.name() + " is given twice");
            }
            parts.add(known);
            requirePlace(text, parts);
        }
        return new PolicyKind(text, new PolicyName(written), parts);
    }

    private static PolicyPart find(String text, PolicyName.Part part, boolean first) {
        return PARTS.stream()
                .filter(known -> known.name().equals(part.name())
                        || (first && known.name().equals("evict." + part.name()))
                        || (first && known.name().equals("bound." + part.name())))
                .findFirst()
                .orElseThrow(() -> new BadInputException(
                        "policy \"" + text + "\": " + part.name() + " is not known here, expected one of "
                                + PARTS.stream().map(PolicyPart::name).collect(Collectors.joining(", "))));
    }

    /** A base stands first and only there; rules and pinned rows need the planner's step, and scopes exclude each other. */
    private static void requirePlace(String text, List<PolicyPart> parts) {
        PolicyPart base = parts.get(0);
        PolicyPart last = parts.get(parts.size() - 1);
        boolean isBase = last.role() instanceof PolicyPart.Whole || last.role() instanceof PolicyPart.Eviction;
        if (isBase != (parts.size() == 1)) {
            throw new BadInputException("policy \"" + text + "\": " + last.name() + " stands in the wrong place,"
                    + " expected one eviction, bound or static policy, and then promotion rules and settings");
        }
        boolean needsStep = last.name().startsWith("promote.") || last.name().startsWith("pin.");
        if (needsStep && !(base.role() instanceof PolicyPart.Eviction)) {
            throw new BadInputException("policy \"" + text + "\": " + last.name() + " does not go with " + base.name()
                    + ", expected an eviction before it");
        }
        if (parts.stream().filter(part -> part.name().startsWith("scope.")).count() > 1) {
            throw new BadInputException("policy \"" + text + "\": expected one scope");
        }
    }

    private static PolicyPart control(String part, String control, int initial, int least) {
        return setting(
                part,
                (setup, given) -> setup.withControls(setup.controls().with(Map.of(control, given.whole(0)))),
                whole(control, initial, least, MANY));
    }

    private static PolicyPart scope(Scope scope) {
        return setting("scope." + scope, (setup, given) -> setup.withScope(scope));
    }
}
