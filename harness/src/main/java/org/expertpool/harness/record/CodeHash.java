package org.expertpool.harness.record;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** SHA-256 over code and texts, in lower-case hex. */
public final class CodeHash {
    private CodeHash() {}

    /**
     * A hash of the code that a class was loaded with: its jar's bytes, or names and bytes of all files of its class
     * folder in name order.
     */
    public static String ofCode(Class<?> type) throws IOException {
        Path source;
        try {
            source = Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException("code source of " + type, impossible);
        }
        MessageDigest digest = sha256();
        if (Files.isRegularFile(source)) {
            digest.update(Files.readAllBytes(source));
        } else {
            try (Stream<Path> files = Files.walk(source)) {
                List<Path> sorted = files.filter(Files::isRegularFile).sorted().toList();
                for (Path file : sorted) {
                    digest.update(source.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
                    digest.update(Files.readAllBytes(file));
                }
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /** A hash of a text in UTF-8. */
    public static String ofText(String text) {
        return HexFormat.of().formatHex(sha256().digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java runtime has SHA-256", missing);
        }
    }
}
