package org.expertpool.harness.trace;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipException;

/**
 * Scans a text of numbers straight from its bytes, which reads millions of lines a second where a general CSV parser makes
 * a string of each field. Fields may be quoted and padded with spaces.
 */
final class NumberScanner implements Closeable {
    private static final int MAX_FIELD_IN_MESSAGE = 40;
    private static final int MAX_DIGITS = 18;

    /** Powers of ten that a float holds exactly. */
    private static final float[] EXACT_POWERS = {1f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};

    /** A mantissa below this takes one more digit and is still exact in a float's 24 bits. */
    private static final int MANTISSA_LIMIT = (1 << 24) / 10 - 1;

    private static final int END = -1;

    private final TextFile file;
    private final InputStream in;
    private final boolean spaceSeparates;
    private final byte[] buffer = new byte[1 << 16];
    private final StringBuilder field = new StringBuilder();
    private int position;
    private int limit;
    private long line = 1;

    /**
     * @param spaceSeparates whether white space ends a field as a comma does
     */
    NumberScanner(TextFile file, boolean spaceSeparates) throws IOException {
        this.file = file;
        this.in = file.open();
        this.spaceSeparates = spaceSeparates;
        skipByteOrderMark();
    }

    /** Line of the next byte, from 1. */
    long line() {
        return line;
    }

    /** Skips blank lines; false at the end of the file. */
    boolean atLine() throws IOException {
        skipSpaces();
        while (peek() == '\n') {
            newLine();
            skipSpaces();
        }
        return peek() != END;
    }

    /** Steps over what follows a field; true at the end of a line, which stays unread. */
    boolean endOfLine() throws IOException {
        if (peek() == ',') {
            position++;
            return false;
        }
        return true;
    }

    /** Skips separators and line ends; false at the end of the file. */
    boolean atNumber() throws IOException {
        while (true) {
            int next = peek();
            if (next == '\n') {
                newLine();
            } else if (next == ',' || isSpace(next)) {
                position++;
            } else {
                return next != END;
            }
        }
    }

    /** The next field as a whole number. */
    long wholeNumber(String what) throws IOException {
        boolean quoted = startField();
        boolean negative = keep('-');
        long value = 0;
        int digits = 0;
        while (isDigit(peek()) && digits < MAX_DIGITS) {
            value = value * 10 + (peek() - '0');
            digits++;
            keep(peek());
        }
        if (!endField(quoted) || digits == 0) {
            throw file.bad(line, what + " is '" + rest(MAX_FIELD_IN_MESSAGE) + "', expected a whole number");
        }
        return negative ? -value : value;
    }

    /** The next field as the nearest float. */
    float decimal(String what) throws IOException {
        boolean quoted = startField();
        int mantissa = 0;
        int digits = 0;
        int decimals = 0;
        boolean point = false;
        boolean plain = true;
        while (plain && (isDigit(peek()) || peek() == '.')) {
            int next = peek();
            if (next == '.') {
                plain = !point;
                point = true;
            } else if (mantissa < MANTISSA_LIMIT) {
                mantissa = mantissa * 10 + (next - '0');
                digits++;
                decimals += point ? 1 : 0;
            } else {
                plain = false;
            }
            keep(next);
        }
        if (endField(quoted) && plain && digits > 0 && decimals < EXACT_POWERS.length) {
            // Both numbers are exact, so that the division rounds once, to the nearest float.
            return mantissa / EXACT_POWERS[decimals];
        }
        String text = rest(Integer.MAX_VALUE);
        if (!text.matches("[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?|[-+]?(?i:nan|inf|infinity)")) {
            throw file.bad(line, what + " is '" + text + "', expected a number");
        }
        return text.matches(".*\\d.*") ? Float.parseFloat(text) : Float.NaN;
    }

    /** The rest of the line as text. */
    String restOfLine() throws IOException {
        StringBuilder text = new StringBuilder();
        while (peek() != '\n' && peek() != END) {
            text.append((char) peek());
            position++;
        }
        return text.toString().trim();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private boolean startField() throws IOException {
        field.setLength(0);
        skipSpaces();
        return skip('"');
    }

    /** Whether the field ends here as it should. */
    private boolean endField(boolean quoted) throws IOException {
        if (quoted && !skip('"')) {
            return false;
        }
        boolean space = isSpace(peek());
        if (space) {
            skipSpaces();
            field.append(' ');
        }
        int next = peek();
        return next == ',' || next == '\n' || next == END || (space && spaceSeparates);
    }

    /** The field so far and what is left of it. */
    private String rest(int atMost) throws IOException {
        while (peek() != ',' && peek() != '\n' && peek() != END && field.length() < atMost) {
            keep(peek());
        }
        return field.toString().trim();
    }

    private boolean keep(int expected) throws IOException {
        boolean there = skip(expected);
        if (there) {
            field.append((char) expected);
        }
        return there;
    }

    private boolean skip(int expected) throws IOException {
        boolean there = peek() == expected && expected != END;
        position += there ? 1 : 0;
        return there;
    }

    private void skipSpaces() throws IOException {
        while (isSpace(peek())) {
            position++;
        }
    }

    private void newLine() {
        position++;
        line++;
    }

    private static boolean isSpace(int next) {
        return next == ' ' || next == '\t' || next == '\r';
    }

    private static boolean isDigit(int next) {
        return next >= '0' && next <= '9';
    }

    private void skipByteOrderMark() throws IOException {
        while (limit < 3 && read(limit)) {
            // Some streams give a byte at a time.
        }
        if (limit >= 3 && buffer[0] == (byte) 0xEF && buffer[1] == (byte) 0xBB && buffer[2] == (byte) 0xBF) {
            position = 3;
        }
    }

    private int peek() throws IOException {
        if (position == limit) {
            position = 0;
            limit = 0;
            if (!read(0)) {
                return END;
            }
        }
        return buffer[position] & 0xFF;
    }

    /** Adds bytes to the buffer from {@code offset}; false at the end of the file. */
    private boolean read(int offset) throws IOException {
        try {
            int read = in.read(buffer, offset, buffer.length - offset);
            limit = offset + Math.max(read, 0);
            return read > 0;
        } catch (EOFException | ZipException damaged) {
            throw file.damaged(line, damaged);
        }
    }
}
