package org.expertpool.harness.exact;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The device's hashes of every forward's outputs, in order: a run's digest, and those of its beginnings. */
public final class OutputHashes {
    private final List<Long> hashes = new ArrayList<>();
    private final List<Integer> decodeEnds = new ArrayList<>(); // forwards up to and with each scored decode forward

    void add(long hash, boolean scoredDecode) {
        hashes.add(hash);
        if (scoredDecode) {
            decodeEnds.add(hashes.size());
        }
    }

    /** Over all forwards. */
    public String sha256() {
        return sha256(hashes.size());
    }

    /** Over all forwards up to and with a scored decode forward, counted from 1: a shorter run of the trace has the same. */
    public String sha256Through(int decodeForward) {
        return sha256(decodeEnds.get(decodeForward - 1));
    }

    private String sha256(int forwards) {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * forwards).order(ByteOrder.LITTLE_ENDIAN);
        hashes.subList(0, forwards).forEach(bytes::putLong);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException("every Java platform has SHA-256", absent);
        }
    }
}
