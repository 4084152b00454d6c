package org.expertpool.plots;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** Made-up results files in the shape of real ones, from smooth formulas; their numbers mean nothing. */
final class FakeResults {
    static final List<String> COLUMNS = List.of(
            ("schema,experiment,cell,repetition,status,basis,engine,backend,device,model,trace,rows_per_layer,policy,"
                            + "graph_mode,context,seed,reason,source,window,scope,initial,fits,context_capacity_tokens,"
                            + "decode_tok_per_s,hit_ratio,forwards,selections,misses,input_tokens,experts,note")
                    .split(","));
    static final List<Integer> SPEED_ROWS = IntStream.concat(
                    IntStream.rangeClosed(1, 28).map(i -> 16 * i), IntStream.of(258))
            .sorted()
            .boxed()
            .toList();
    private static final List<String> MODES = List.of("none", "piecewise", "full-decode", "full");

    private final List<Map<String, String>> rows = new ArrayList<>();

    /** Decode speeds over N in four graph modes, a cold curve, two other policies, and what was reported. */
    static FakeResults speeds() {
        FakeResults fake = new FakeResults();
        for (int n : SPEED_ROWS) {
            for (String mode : MODES) {
                fake.speed(n, "evict.lru", mode, "warm", 1 - .62 * Math.exp(-n / 75.0));
            }
            fake.speed(n, "evict.lru", "full-decode", "cold", .93 - .62 * Math.exp(-n / 75.0));
            fake.speed(n, "static.profile", "full-decode", "warm", .2 + .75 * Math.sqrt(n / 512.0));
            fake.speed(n, "bound.belady", "full-decode", "warm", 1 - .45 * Math.exp(-n / 60.0));
        }
        fake.reported("pool", "258", "4096", "", "63.19").reported("uva", "", "4096", "", "7.42");
        for (String pair : List.of("4096 42.2", "65536 64.9", "131072 70.7", "261632 42.5")) {
            fake.reported("pool", "208", "262144", pair.split(" ")[0], pair.split(" ")[1]);
        }
        return fake;
    }

    /** The same, with an engine that has N rows a layer and no policy. */
    static FakeResults speedsBesideStreams() {
        FakeResults fake = speeds();
        fake.speed(258, "", "none", "cold", .5);
        return fake;
    }

    /** The same, with the other system's figures that were reported beside them. */
    static FakeResults crowdedSpeeds() {
        FakeResults fake = speeds();
        for (String pair : List.of("4096 39.4", "65536 67.3", "131072 71.6", "261632 38.3")) {
            fake.reported("freetoken", "208", "262144", pair.split(" ")[0], pair.split(" ")[1]);
        }
        fake.imposed("283", "0.95");
        return fake;
    }

    /** Hit ratios of a small model: two scopes, a static profile and the bound, with seeds 1 to 3 for LRU. */
    static FakeResults hits() {
        FakeResults fake = new FakeResults();
        for (int n = 4; n <= 31; n++) {
            for (int seed = 1; seed <= 3; seed++) {
                fake.hit(n, "evict.lru", "global", 1 - Math.exp(-n / 8.0) - .004 * seed, seed);
            }
            fake.hit(n, "evict.lru", "layer", 1 - .9 * Math.exp(-n / 8.5), 1);
            fake.hit(n, "static.profile", "layer", n / 32.0, 1);
            fake.hit(n, "bound.belady", "global", 1 - .7 * Math.exp(-n / 6.0), 1);
            fake.hit(n, "bound.belady", "layer", n == 31 ? 1 : 1 - .7 * Math.exp(-n / 6.5), 1);
        }
        return fake;
    }

    private void speed(int n, String policy, String mode, String window, double hitRatio) {
        double launches = Map.of("none", 6.5, "piecewise", 3.4, "full-decode", .6, "full", .6)
                .get(mode);
        double milliseconds = 10.6 + launches + 480 * (1 - hitRatio) * .054;
        long capacity = (long) ((1.24 + (258 - n) * .1236) * 1024 * 1024 * 1024 / 26_828);
        Map<String, String> row =
                row("speeds", "window=%s,policy=%s,rows=%d,graph_mode=%s".formatted(window, policy, n, mode));
        row.put("rows_per_layer", Integer.toString(n));
        row.put("policy", policy);
        row.put("graph_mode", mode);
        row.put("context", "4096");
        row.put("window", window);
        row.put("scope", "global");
        row.put("initial", window.equals("cold") ? "empty" : "first-n");
        row.put("forwards", window.equals("cold") ? "300" : "1500");
        row.put("fits", Boolean.toString(capacity > 0));
        row.put("context_capacity_tokens", capacity > 0 ? Long.toString(capacity) : "");
        row.put("decode_tok_per_s", number(1000 / milliseconds));
        row.put("hit_ratio", number(hitRatio));
        row.put("experts", "512");
    }

    private void hit(int n, String policy, String scope, double hitRatio, int seed) {
        Map<String, String> row = row("hits", "seed=%d,policy=%s,scope=%s,rows=%d".formatted(seed, policy, scope, n));
        row.put("model", "test-20b");
        row.put("device", "");
        row.put("rows_per_layer", Integer.toString(n));
        row.put("policy", policy);
        row.put("scope", scope);
        row.put("window", "warm");
        row.put("initial", "first-n");
        row.put("seed", Integer.toString(seed));
        row.put("hit_ratio", number(hitRatio));
        row.put("experts", "32");
    }

    /** A speed at imposed misses: at no N, and no line over all of them either. */
    FakeResults imposed(String speed, String hitRatio) {
        reported("freetoken", "", "", hitRatio, speed);
        rows.get(rows.size() - 1).put("hit_ratio", hitRatio);
        return this;
    }

    FakeResults reported(String engine, String n, String context, String input, String speed) {
        Map<String, String> row = row("speeds", "reported=" + engine + "-" + n + "-" + input);
        row.put("basis", "reported");
        row.put("engine", engine);
        row.put("device", "Reported card");
        row.put("backend", "");
        row.put("trace", "");
        row.put("source", "seed");
        row.put("policy", engine.equals("pool") ? "evict.lru" : "");
        row.put("rows_per_layer", n);
        row.put("context", context);
        row.put("input_tokens", input);
        row.put("decode_tok_per_s", speed);
        return this;
    }

    /** A row with the given cells over the usual ones. */
    FakeResults with(Map<String, String> cells) {
        row("speeds", "").putAll(cells);
        return this;
    }

    private Map<String, String> row(String experiment, String cell) {
        Map<String, String> row = new LinkedHashMap<>();
        COLUMNS.forEach(column -> row.put(column, ""));
        row.putAll(Map.of(
                "schema", "1",
                "experiment", experiment,
                "cell", cell,
                "repetition", "1",
                "status", "ok",
                "basis", "modelled",
                "engine", "pool",
                "backend", "model",
                "device", "test-card-48gib",
                "model", "test-model"));
        row.put("trace", "test-prose");
        rows.add(row);
        return row;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.6f", value);
    }

    String csv() {
        StringBuilder text = new StringBuilder(String.join(",", COLUMNS)).append('\n');
        for (Map<String, String> row : rows) {
            List<String> cells = COLUMNS.stream()
                    .map(row::get)
                    .map(cell -> cell.contains(",") ? '"' + cell + '"' : cell)
                    .toList();
            text.append(String.join(",", cells)).append('\n');
        }
        return text.toString();
    }

    /** Writes the file as a run's directory holds it. */
    Path write(Path dir) throws IOException {
        return Files.writeString(dir.resolve("results.csv"), csv());
    }

    ResultsTable table(Path dir) throws IOException {
        return ResultsTable.read(write(dir));
    }
}
