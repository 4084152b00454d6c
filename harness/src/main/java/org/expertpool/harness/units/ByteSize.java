package org.expertpool.harness.units;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.expertpool.pool.BadInputException;

/** Reads and writes byte counts: {@code 48GiB}, {@code 512MiB}, {@code 1.5GB}, plain bytes. GiB is 2^30, GB is 1e9. */
public final class ByteSize {
    private static final Pattern FORM = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*([KMGT]i?B|B)?");
    private static final Map<String, Long> UNITS = Map.of(
            "B",
            1L,
            "KB",
            1_000L,
            "MB",
            1_000_000L,
            "GB",
            1_000_000_000L,
            "TB",
            1_000_000_000_000L,
            "KiB",
            1L << 10,
            "MiB",
            1L << 20,
            "GiB",
            1L << 30,
            "TiB",
            1L << 40);
    private static final double GIB = 1L << 30;

    private ByteSize() {}

    /**
     * The number of bytes that {@code text} names.
     *
     * @param field what is being read, for the error message
     */
    public static long parse(String field, String text) {
        Matcher form = FORM.matcher(text.trim());
        if (form.matches()) {
            long unit = form.group(2) == null ? 1 : UNITS.get(form.group(2));
            BigDecimal bytes = new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(unit));
            if (bytes.stripTrailingZeros().scale() <= 0 && bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0) {
                return bytes.longValueExact();
            }
            if (unit > 1 && bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0) {
                return bytes.longValue();
            }
        }
        throw new BadInputException(
                field + ": '" + text + "' is not a size; expected bytes such as 48GiB, 512MiB or 1000");
    }

    /** {@code bytes} in GiB with two decimals, such as {@code 43.22 GiB}. */
    public static String gib(long bytes) {
        return String.format(Locale.ROOT, "%.2f GiB", bytes / GIB);
    }
}
