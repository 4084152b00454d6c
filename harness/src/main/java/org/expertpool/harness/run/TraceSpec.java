package org.expertpool.harness.run;

/** Which routing trace an experiment replays. */
sealed interface TraceSpec {
    /** What stands in the {@code trace} column. */
    String label();

    /** Whether a generator makes it, so that its seed is an axis. */
    default boolean isGenerated() {
        return false;
    }

    /**
     * A calibrated generator; the seed is an axis.
     *
     * @param preset name of the generator preset
     * @param forwards length of the trace
     * @param prefillTokens tokens at the start of each sequence that come as one chunk; 1 where each comes alone
     */
    record Preset(String preset, long forwards, int prefillTokens) implements TraceSpec {
        @Override
        public String label() {
            return prefillTokens > 1 ? preset + ", prefill " + prefillTokens : preset;
        }

        @Override
        public boolean isGenerated() {
            return true;
        }
    }

    /**
     * A file in any form that can be imported.
     *
     * @param path relative to the repository root
     * @param sha256 of the file's bytes, lower-case hex
     */
    record File(String path, String sha256) implements TraceSpec {
        @Override
        public String label() {
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }

    /**
     * The sequences of a trace side by side, in an order drawn by a seed.
     *
     * @param of the trace they are taken from
     * @param streams sequences decoded at once
     * @param shuffleSeed order of the sequences
     */
    record Merged(TraceSpec of, int streams, long shuffleSeed) implements TraceSpec {
        @Override
        public String label() {
            return of.label() + ", " + streams + " streams";
        }

        @Override
        public boolean isGenerated() {
            return of.isGenerated();
        }
    }
}
