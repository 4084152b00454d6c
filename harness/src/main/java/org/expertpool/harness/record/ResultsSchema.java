package org.expertpool.harness.record;

import static org.expertpool.harness.record.ResultColumn.Kind.EXACT;
import static org.expertpool.harness.record.ResultColumn.Kind.HIGHER_IS_BETTER;
import static org.expertpool.harness.record.ResultColumn.Kind.LABEL;
import static org.expertpool.harness.record.ResultColumn.Kind.LOWER_IS_BETTER;

import java.util.List;
import java.util.Optional;

/** Schema 1 of {@code results.csv}: columns in their fixed order. New columns go to the end; none is ever moved. */
public final class ResultsSchema {
    /** Value of the {@code schema} column; readers reject any other. */
    public static final int VERSION = 1;

    public static final String FILE_NAME = "results.csv";

    /** Columns that every file of schema 1 has, first and in this order. */
    public static final int IDENTITY_COLUMNS = 16;

    public static final List<ResultColumn> COLUMNS = List.of(
            label("schema", "schema number, 1"),
            label("experiment", "name of the definition"),
            label("cell", "axis values as key=value, comma-separated; names the cell within the experiment"),
            label("repetition", "from 1"),
            label("status", "ok, failed, refused or skipped"),
            label("basis", "measured, modelled or reported"),
            label("engine", "how expert bytes reach the GEMM: pool, uva, ..."),
            label("backend", "what produced the row: model, java, cuda, jmh"),
            label("device", "device or device profile"),
            label("model", "model geometry"),
            label("trace", "routing trace: generator preset or file name"),
            label("rows_per_layer", "the user's N"),
            label("policy", "full policy name"),
            label("graph_mode", "none, piecewise, full-decode or full"),
            label("context", "tokens of context at which decode speed holds"),
            label("seed", "seed of the trace generator"),
            label("reason", "why status is not ok"),
            label("source", "where a reported figure was published"),
            label(
                    "window",
                    "warm: scored after a warm-up; unseen: warm, and no part of what a frozen profile was taken from; cold: scored from the first forward"),
            label("scope", "global or layer: which rows a victim may come from"),
            label("initial", "first-n or empty: what is resident before the first forward"),
            exact("effective_rows", "n = min(N, experts - 1), rows"),
            exact("fits", "whether fixed parts, bank and a KV cache of context tokens fit memory_bytes"),
            exact(
                    "context_capacity_tokens",
                    "largest context that fits beside the bank, tokens; empty where none does"),
            higher("decode_tok_per_s", "decode speed, tokens per second"),
            lower("decode_ms_per_token", "time of a decode forward, milliseconds"),
            lower("step_p50_us", "median time of one layer's step, microseconds"),
            lower("step_p99_us", "99th percentile of the same"),
            higher("prefill_tok_per_s", "prefill speed, tokens per second"),
            lower("ttft_s", "time to first token, seconds"),
            higher("hit_ratio", "hits / selections"),
            exact("forwards", "scored forwards; of a pool, those that its planner took"),
            exact("selections", "distinct valid experts per step, summed over the scored steps"),
            exact("hits", "selections that were resident"),
            exact("misses", "selections that were not; promoted + staged"),
            exact("promoted", "misses that took a pool row"),
            exact("staged", "misses that took a staging row for one step"),
            lower("promoted_per_forward", "promoted / forwards"),
            lower("staged_per_forward", "staged / forwards"),
            lower("h2d_bytes_per_forward", "expert bytes copied host to device for these forwards, per forward"),
            higher("h2d_gb_per_s", "those bytes over the decode time, 1e9 bytes per second"),
            exact("bank_bytes", "pool and staging rows, bytes"),
            higher("free_bytes_min", "least free device memory seen or computed, bytes"),
            label("memory_bytes", "memory budget of the device, bytes"),
            label("input_tokens", "prompt length of a serving measurement, tokens"),
            label("decode_tokens", "maxDecodeTokens of the planner"),
            label("marked", "true where the definition points out this N"),
            label("controls", "promotion controls that differ from their defaults, name=value separated by ;"),
            exact("partition_forwards", "scored forwards that took the partition path"),
            lower("ns_per_op", "benchmark: nanoseconds per operation on the host, mean of a repetition"),
            higher("ops_per_s", "benchmark: operations per second, mean of a repetition"),
            label("note", "remark on the row"),
            label("experts", "routed experts per layer of the model, of which N rows are resident"),
            exact("output_sha256", "SHA-256 over the bits of every layer's output of every forward, in order"),
            exact("tokens", "tokens of these forwards"),
            exact(
                    "exchanged",
                    "experts brought in without a miss: by policies that exchange between steps, and kept by wide calls"),
            exact("compulsory_misses", "first selections of experts that were not resident at the start"),
            exact("capacity_misses", "what Belady with bypass misses beyond them"),
            exact("admission_misses", "what Belady misses beyond that where each miss must take a row"),
            exact("victim_misses", "what the policy misses beyond that; negative where it misses less"),
            lower(
                    "inserts_per_100",
                    "experts brought into the bank per 100 selections: promoted and exchanged between steps"),
            lower("h2d_bytes_per_token", "expert bytes copied host to device per token"),
            label("streams", "sequences decoded side by side"),
            label("chunk_tokens", "tokens of a prefill chunk"),
            label("partition", "how wide calls of a pool read what is not resident: host-view or streamed"),
            label("ple", "embedding rows by token from a mapped table: off, eager or deferred; empty: off"),
            label("prefill_promote", "most experts of a layer that stay in the pool after a wide call"),
            exact("partition_misses", "distinct experts of wide calls that were not resident, over scored forwards"),
            lower("device_us_per_op", "benchmark: microseconds between events on the device per operation"),
            label("activations", "type of the activations where it is not bf16: fp16"));

    private ResultsSchema() {}

    /** The column of that name; empty for one this version doesn't know. */
    public static Optional<ResultColumn> column(String name) {
        return COLUMNS.stream().filter(column -> column.name().equals(name)).findFirst();
    }

    public static List<String> names() {
        return COLUMNS.stream().map(ResultColumn::name).toList();
    }

    private static ResultColumn label(String name, String meaning) {
        return new ResultColumn(name, LABEL, meaning);
    }

    private static ResultColumn exact(String name, String meaning) {
        return new ResultColumn(name, EXACT, meaning);
    }

    private static ResultColumn higher(String name, String meaning) {
        return new ResultColumn(name, HIGHER_IS_BETTER, meaning);
    }

    private static ResultColumn lower(String name, String meaning) {
        return new ResultColumn(name, LOWER_IS_BETTER, meaning);
    }
}
