package org.expertpool.harness.run;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.expertpool.pool.BadInputException;

/**
 * Axis values whose product is a set of cells.
 *
 * @param values by axis key
 * @param lists keys that the definition gives as lists; they take part in the cells' ids whatever their length
 */
record Matrix(Map<String, List<String>> values, Set<String> lists) {
    Matrix {
        values = Map.copyOf(values);
        lists = Set.copyOf(lists);
    }

    /**
     * The cells of several matrices, each cell once. A key is part of the ids if any matrix gives it as a list, or if
     * two matrices differ in it that can have it.
     */
    static List<Cell> cells(String file, List<Matrix> matrices) {
        Set<String> idKeys = idKeys(matrices);
        List<Cell> cells = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (Matrix matrix : matrices) {
            for (Map<String, String> settings : matrix.product()) {
                String id = idKeys.stream()
                        .filter(settings::containsKey)
                        .map(key -> key + "=" + settings.get(key))
                        .collect(Collectors.joining(","));
                if (!ids.add(id)) {
                    throw new BadInputException(
                            file + ": the cell " + id + " occurs twice, expected each combination once");
                }
                cells.add(new Cell(id, settings));
            }
        }
        return cells;
    }

    private static Set<String> idKeys(List<Matrix> matrices) {
        Set<String> keys = new TreeSet<>(Axis.WALKING_ORDER);
        matrices.forEach(matrix -> keys.addAll(matrix.lists));
        Set<String> all = matrices.stream()
                .map(matrix -> matrix.values.keySet())
                .flatMap(Collection::stream)
                .collect(Collectors.toSet());
        for (String key : all) {
            if (matrices.stream()
                            .filter(matrix -> Axis.isOf(matrix.engine(), key))
                            .map(matrix -> matrix.values.get(key))
                            .distinct()
                            .count()
                    > 1) {
                keys.add(key);
            }
        }
        // A definition without any axis still has one cell, which needs a name.
        if (keys.isEmpty()) {
            keys.add(Axis.ROWS.key());
        }
        return keys;
    }

    private String engine() {
        return values.getOrDefault(Axis.ENGINE.key(), List.of(Axis.POOL)).get(0);
    }

    private List<Map<String, String>> product() {
        List<Map<String, String>> product = List.of(Map.of());
        Map<String, List<String>> ordered = new TreeMap<>(Axis.WALKING_ORDER);
        ordered.putAll(values);
        for (Map.Entry<String, List<String>> axis : ordered.entrySet()) {
            List<Map<String, String>> longer = new ArrayList<>();
            for (Map<String, String> settings : product) {
                for (String value : axis.getValue()) {
                    Map<String, String> more = new LinkedHashMap<>(settings);
                    more.put(axis.getKey(), value);
                    longer.add(more);
                }
            }
            product = longer;
        }
        return product;
    }
}
