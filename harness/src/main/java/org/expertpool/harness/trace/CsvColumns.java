package org.expertpool.harness.trace;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the columns of a CSV trace are, from its first line. Columns come in the order sequence (optional), token, layer;
 * then either lane, expert and (optional) weight, or experts and (optional) as many weights.
 *
 * @param headed whether the first line is a header
 * @param sequenced whether the first column is the sequence
 * @param longForm a line per lane; else a line per event
 * @param experts experts in a line
 * @param weighted whether each expert has a weight
 */
record CsvColumns(boolean headed, boolean sequenced, boolean longForm, int experts, boolean weighted) {
    private static final Set<String> SEQUENCE = Set.of("seq", "sequence", "seq_idx");
    private static final Set<String> TOKEN = Set.of("token", "token_idx", "pos", "position");
    private static final Set<String> LAYER = Set.of("layer", "layer_idx");
    private static final Pattern NUMBERED = Pattern.compile("(.*?)(\\d{1,8})");
    private static final String FORMS =
            "seq,pos,layer,e0..,w0.. or token,layer,e0.. or token,layer,lane,expert,weight as the header";

    /** Columns before the experts or the lane. */
    int keys() {
        return sequenced ? 3 : 2;
    }

    /** Columns in all. */
    int count() {
        return keys() + (longForm ? 1 : 0) + experts * (weighted ? 2 : 1);
    }

    /** The format these columns are. */
    TraceFormat format() {
        if (longForm) {
            return TraceFormat.CSV_LONG;
        }
        return sequenced ? TraceFormat.CSV : TraceFormat.CSV_TOKEN;
    }

    /**
     * Reads the first two lines; without a header a line is {@code token,layer,e0..}, or
     * {@code token,layer,lane,expert,weight} where the format says so.
     */
    static CsvColumns of(TextFile file, long line, String first, String second, Optional<TraceFormat> format) {
        List<String> names = Arrays.stream(first.split(",", -1))
                .map(name -> name.replace("\"", "").trim().toLowerCase(Locale.ROOT))
                .toList();
        if (names.get(0).matches("-?\\d+")) {
            boolean longForm = format.filter(TraceFormat.CSV_LONG::equals).isPresent();
            int rest = names.size() - (longForm ? 3 : 2);
            if (rest < 1 || (longForm && rest > 2)) {
                throw file.bad(line, names.size() + " columns and no header, expected " + FORMS);
            }
            return new CsvColumns(false, false, longForm, longForm ? 1 : rest, longForm && rest == 2);
        }
        boolean sequenced = SEQUENCE.contains(names.get(0));
        int keys = sequenced ? 3 : 2;
        if (names.size() <= keys || !TOKEN.contains(names.get(keys - 2)) || !LAYER.contains(names.get(keys - 1))) {
            throw file.bad(line, "the header is '" + shorten(first) + "', expected " + FORMS);
        }
        List<String> rest = names.subList(keys, names.size());
        if (rest.get(0).equals("lane")) {
            boolean weighted = rest.size() == 3 && rest.get(2).startsWith("w");
            if (rest.size() < 2 || !rest.get(1).startsWith("e") || (rest.size() > 2 && !weighted)) {
                throw file.bad(line, "the header is '" + shorten(first) + "', expected token,layer,lane,expert,weight");
            }
            return new CsvColumns(true, sequenced, true, 1, weighted);
        }
        if (rest.size() == 1 && rest.get(0).matches("experts?(\\.{3})?|expert_ids|selected_ids")) {
            // One name for all the expert columns: the first line of numbers says how many.
            return new CsvColumns(true, sequenced, false, Math.max(1, second.split(",", -1).length - keys), false);
        }
        return named(file, line, sequenced, keys, rest);
    }

    private static CsvColumns named(TextFile file, long line, boolean sequenced, int keys, List<String> rest) {
        int experts =
                (int) rest.stream().takeWhile(name -> name.startsWith("e")).count();
        int weights = (int) rest.stream()
                .skip(experts)
                .takeWhile(name -> name.startsWith("w"))
                .count();
        if (experts + weights < rest.size()) {
            int column = experts + weights;
            throw file.bad(
                    line,
                    "column " + (keys + column + 1) + " is '" + shorten(rest.get(column))
                            + "', expected experts e0.., then weights w0..");
        }
        if (experts == 0 || (weights != 0 && weights != experts)) {
            throw file.bad(
                    line, experts + " expert and " + weights + " weight columns, expected as many weights or none");
        }
        requireCounting(file, line, keys, rest.subList(0, experts));
        requireCounting(file, line, keys + experts, rest.subList(experts, rest.size()));
        return new CsvColumns(true, sequenced, false, experts, weights > 0);
    }

    /** Columns are taken in their order: numbers in their names that say another one are not what they seem. */
    private static void requireCounting(TextFile file, long line, int before, List<String> names) {
        for (int i = 1; i < names.size(); i++) {
            Matcher last = NUMBERED.matcher(names.get(i - 1));
            Matcher next = NUMBERED.matcher(names.get(i));
            boolean counts = last.matches()
                    ? next.matches()
                            && next.group(1).equals(last.group(1))
                            && Integer.parseInt(next.group(2)) == Integer.parseInt(last.group(2)) + 1
                    : !names.subList(0, i).contains(names.get(i));
            if (!counts) {
                throw file.bad(
                        line,
                        "column " + (before + i + 1) + " is '" + shorten(names.get(i)) + "' after '"
                                + shorten(names.get(i - 1)) + "', expected names that count up");
            }
        }
    }

    private static String shorten(String text) {
        return text.length() <= 60 ? text : text.substring(0, 60) + "...";
    }
}
