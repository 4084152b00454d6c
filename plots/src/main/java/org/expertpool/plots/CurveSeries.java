package org.expertpool.plots;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Turns curves into series: names them by what tells them apart, styles them, and joins those that coincide. */
final class CurveSeries {
    /** Stands between the names of curves that coincide. */
    static final String EQUALS = " = ";

    private CurveSeries() {}

    /**
     * One series per curve, but one for curves that differ in the colour dimension alone and go through the same points:
     * drawn twice, one would hide the other.
     *
     * @param colourDimension the dimension colours stand for
     * @param bound curves whose colour stands for their policy instead: bounds no policy can pass
     */
    static List<Series> of(List<Curve> curves, String colourDimension, Function<Curve, Boolean> bound) {
        List<String> telling = Curves.telling(curves, colourDimension);
        List<SeriesStyle> styles = HouseStyle.styles(curves, curve -> {
            String dimension = bound.apply(curve) ? "policy" : colourDimension;
            return Words.value(dimension, curve.value(dimension));
        });
        List<Curve> kept = new ArrayList<>();
        List<SeriesStyle> keptStyles = new ArrayList<>();
        for (int i = 0; i < curves.size(); i++) {
            Curve curve = curves.get(i);
            int same = indexOfCoinciding(kept, curve, colourDimension);
            if (same >= 0) {
                Map<String, String> key = new LinkedHashMap<>(kept.get(same).key());
                key.merge(colourDimension, curve.value(colourDimension), (one, two) -> one + EQUALS + two);
                kept.set(same, new Curve(key, kept.get(same).points()));
            } else {
                kept.add(curve);
                keptStyles.add(styles.get(i));
            }
        }
        List<Series> series = new ArrayList<>();
        for (int i = 0; i < kept.size(); i++) {
            String label = Words.label(kept.get(i), telling);
            series.add(new Series(
                    label.isEmpty() ? "all rows" : label,
                    keptStyles.get(i),
                    kept.get(i).points()));
        }
        return series;
    }

    private static int indexOfCoinciding(List<Curve> kept, Curve curve, String colourDimension) {
        for (int i = 0; i < kept.size(); i++) {
            if (kept.get(i).coincidesWith(curve)
                    && others(kept.get(i), colourDimension).equals(others(curve, colourDimension))) {
                return i;
            }
        }
        return -1;
    }

    private static Map<String, String> others(Curve curve, String dimension) {
        Map<String, String> others = new LinkedHashMap<>(curve.key());
        others.remove(dimension);
        return others;
    }
}
