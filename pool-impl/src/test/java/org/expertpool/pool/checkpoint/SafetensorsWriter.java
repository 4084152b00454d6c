package org.expertpool.pool.checkpoint;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes safetensors files the plain way: tensors in the order in which they are added. */
final class SafetensorsWriter {
    private final ObjectNode header = new ObjectMapper().createObjectNode();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();

    SafetensorsWriter add(String name, String type, long[] shape, byte[] bytes) {
        ObjectNode entry = header.putObject(name).put("dtype", type);
        ArrayNode sizes = entry.putArray("shape");
        for (long size : shape) {
            sizes.add(size);
        }
        entry.putArray("data_offsets").add(data.size()).add(data.size() + bytes.length);
        data.writeBytes(bytes);
        return this;
    }

    /** The header so far, to be damaged. */
    ObjectNode header() {
        return header;
    }

    void write(Path file) throws IOException {
        write(file, header.toString(), data.toByteArray());
    }

    static void write(Path file, String header, byte[] data) throws IOException {
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(8 + text.length + data.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(text.length).put(text).put(data);
        Files.write(file, bytes.array());
    }
}
