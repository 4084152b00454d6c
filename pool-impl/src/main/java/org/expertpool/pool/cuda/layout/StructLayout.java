package org.expertpool.pool.cuda.layout;

import java.util.ArrayList;
import java.util.List;

/**
 * Byte layout of one struct that Java and the kernels share: its fields lie one after the other without hidden padding.
 *
 * @param name the struct's name in C++
 * @param bytes its size
 * @param fields in order; they cover the struct exactly
 */
public record StructLayout(String name, int bytes, List<Field> fields) {
    /** One field: offset from the start of the struct and size, in bytes. */
    public record Field(String name, int offset, int bytes) {}

    public StructLayout {
        fields = List.copyOf(fields);
        int end = 0;
        for (Field field : fields) {
            if (field.offset() != end) {
                throw new IllegalArgumentException("%s.%s starts at %d, but %d bytes come before it"
                        .formatted(name, field.name(), field.offset(), end));
            }
            end += field.bytes();
        }
        if (end != bytes) {
            throw new IllegalArgumentException("%s has %d bytes, its fields %d".formatted(name, bytes, end));
        }
    }

    /** Offset in bytes of the field with this name. */
    public int offset(String field) {
        return fields.stream()
                .filter(candidate -> candidate.name().equals(field))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("%s has no field %s".formatted(name, field)))
                .offset();
    }

    static Builder struct(String name) {
        return new Builder(name);
    }

    /** Lays fields out in the order in which they are named. */
    static final class Builder {
        private static final int POINTER_BYTES = 8;

        private final String name;
        private final List<Field> fields = new ArrayList<>();
        private int end;

        private Builder(String name) {
            this.name = name;
        }

        Builder i32(String... names) {
            return each(Integer.BYTES, names);
        }

        Builder i64(String... names) {
            return each(Long.BYTES, names);
        }

        Builder f32(String... names) {
            return each(Float.BYTES, names);
        }

        Builder pointer(String... names) {
            return each(POINTER_BYTES, names);
        }

        Builder array(String field, int elementBytes, int count) {
            return each(elementBytes * count, field);
        }

        StructLayout bytes(int bytes) {
            return new StructLayout(name, bytes, fields);
        }

        private Builder each(int bytes, String... names) {
            for (String field : names) {
                fields.add(new Field(field, end, bytes));
                end += bytes;
            }
            return this;
        }
    }
}
