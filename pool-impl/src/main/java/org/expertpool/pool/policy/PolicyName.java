package org.expertpool.pool.policy;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/**
 * A policy's name taken apart: dotted parts with arguments in parentheses, joined by {@code +}, such as
 * {@code evict.lru+promote.nth-touch(2,8)}.
 */
public record PolicyName(List<Part> parts) {
    private static final Pattern PART = Pattern.compile("([a-z0-9][a-z0-9.-]*)(?:\\(([^()]*)\\))?");

    public PolicyName {
        parts = List.copyOf(parts);
    }

    /** One part: its dotted name and its arguments as written. */
    public record Part(String name, List<String> arguments) {
        public Part {
            arguments = List.copyOf(arguments);
        }

        @Override
        public String toString() {
            return arguments.isEmpty() ? name : name + "(" + String.join(",", arguments) + ")";
        }
    }

    /** Takes a name apart; says what is wrong with one that is no name. */
    public static PolicyName parse(String text) {
        List<Part> parts = new ArrayList<>();
        for (String part : split(text, '+')) {
            Matcher match = PART.matcher(part);
            if (!match.matches()) {
                throw new BadInputException("policy \"" + text + "\": \"" + part
                        + "\" is no policy part, expected a name like evict.lru, with arguments in parentheses if any");
            }
            parts.add(new Part(match.group(1), arguments(match.group(2))));
        }
        return new PolicyName(parts);
    }

    /** The names of a comma-separated list; commas inside parentheses belong to a name. */
    public static List<String> splitList(String text) {
        return split(text, ',');
    }

    private static List<String> arguments(String inside) {
        if (inside == null || inside.isBlank()) {
            return List.of();
        }
        return split(inside, ',');
    }

    private static List<String> split(String text, char separator) {
        List<String> pieces = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth < 0) {
                break;
            }
            if (c == separator && depth == 0) {
                pieces.add(text.substring(from, at).strip());
                from = at + 1;
            }
        }
        if (depth != 0) {
            throw new BadInputException("policy \"" + text + "\": its parentheses do not match");
        }
        pieces.add(text.substring(from).strip());
        return pieces;
    }

    /** The name as it stands in result files. */
    @Override
    public String toString() {
        return parts.stream().map(Part::toString).collect(Collectors.joining("+"));
    }
}
