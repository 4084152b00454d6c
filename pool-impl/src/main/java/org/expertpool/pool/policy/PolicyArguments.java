package org.expertpool.pool.policy;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/** The values of a part's parameters: as written in the policy's name, or their defaults. */
record PolicyArguments(List<BigDecimal> values) {
    PolicyArguments {
        values = List.copyOf(values);
    }

    /** Reads a part's arguments; refuses too many and those out of range. */
    static PolicyArguments of(String policy, PolicyPart part, List<String> given) {
        List<PolicyParameter> parameters = part.parameters();
        if (given.size() > parameters.size()) {
            String expected = parameters.isEmpty()
                    ? "takes no arguments"
                    : "takes at most "
                            + parameters.stream().map(PolicyParameter::name).collect(Collectors.joining(", "));
            throw new BadInputException("policy \"" + policy + "\": " + part.name() + " " + expected);
        }
        List<BigDecimal> values = new ArrayList<>();
        for (int i = 0; i < parameters.size(); i++) {
            PolicyParameter parameter = parameters.get(i);
            values.add(i < given.size() ? parameter.parse(policy, given.get(i)) : parameter.initial());
        }
        return new PolicyArguments(values);
    }

    int whole(int index) {
        return values.get(index).intValueExact();
    }

    double decimal(int index) {
        return values.get(index).doubleValue();
    }

    List<String> formatted() {
        return values.stream().map(PolicyParameter::format).collect(Collectors.toList());
    }
}
