package org.expertpool.plots;

import java.awt.Color;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The look of series, the same in every figure: a value keeps its colour and marker wherever it appears. The colours are
 * Okabe and Ito's, which colour-blind readers tell apart; marker and dash say the same again for print.
 */
final class HouseStyle {
    static final Color INK = new Color(0x22, 0x22, 0x22);
    static final Color QUIET = new Color(0x66, 0x66, 0x66);
    static final Color GRID = new Color(0xE4, 0xE4, 0xE4);
    static final Color HAIRLINE = new Color(0x8A, 0x8A, 0x8A);

    private static final Color BLUE = new Color(0x00, 0x72, 0xB2);
    private static final Color VERMILLION = new Color(0xD5, 0x5E, 0x00);
    private static final Color GREEN = new Color(0x00, 0x9E, 0x73);
    private static final Color ORANGE = new Color(0xE6, 0x9F, 0x00);
    private static final Color PURPLE = new Color(0xCC, 0x79, 0xA7);
    static final Color SKY = new Color(0x56, 0xB4, 0xE9);
    private static final Color BLACK = new Color(0x00, 0x00, 0x00);
    private static final Color GREY = new Color(0x77, 0x77, 0x77);

    private record Look(Color colour, MarkerShape marker) {}

    private static final Map<String, Look> FIXED = Map.ofEntries(
            Map.entry("LRU", new Look(BLUE, MarkerShape.CIRCLE)),
            Map.entry("static profile", new Look(ORANGE, MarkerShape.SQUARE)),
            Map.entry("Belady (with bypass)", new Look(GREY, MarkerShape.TRIANGLE_DOWN)),
            Map.entry("Belady (no bypass)", new Look(BLACK, MarkerShape.TRIANGLE_UP)),
            Map.entry("graph mode none", new Look(VERMILLION, MarkerShape.TRIANGLE_DOWN)),
            Map.entry("graph mode piecewise", new Look(ORANGE, MarkerShape.SQUARE)),
            Map.entry("graph mode full-decode", new Look(BLUE, MarkerShape.CIRCLE)),
            Map.entry("graph mode full", new Look(GREEN, MarkerShape.DIAMOND)));

    /** Looks for values without one of their own, taken in the order the values appear. */
    private static final List<Look> FREE = List.of(
            new Look(GREEN, MarkerShape.DIAMOND),
            new Look(PURPLE, MarkerShape.TRIANGLE_UP),
            new Look(VERMILLION, MarkerShape.TRIANGLE_DOWN),
            new Look(SKY, MarkerShape.SQUARE),
            new Look(BLACK, MarkerShape.CIRCLE),
            new Look(BLUE, MarkerShape.PLUS),
            new Look(ORANGE, MarkerShape.CROSS),
            new Look(GREY, MarkerShape.STAR),
            new Look(VERMILLION, MarkerShape.SQUARE),
            new Look(GREEN, MarkerShape.CROSS),
            new Look(SKY, MarkerShape.DIAMOND),
            new Look(PURPLE, MarkerShape.PLUS),
            new Look(ORANGE, MarkerShape.TRIANGLE_UP),
            new Look(BLUE, MarkerShape.STAR),
            new Look(BLACK, MarkerShape.SQUARE),
            new Look(GREY, MarkerShape.DIAMOND),
            new Look(GREEN, MarkerShape.TRIANGLE_DOWN),
            new Look(SKY, MarkerShape.STAR),
            new Look(VERMILLION, MarkerShape.PLUS),
            new Look(PURPLE, MarkerShape.SQUARE));

    private static final List<MarkerShape> REPORTED_MARKERS = List.of(
            MarkerShape.STAR, MarkerShape.DIAMOND, MarkerShape.TRIANGLE_UP, MarkerShape.PLUS, MarkerShape.CROSS);

    private HouseStyle() {}

    /**
     * A style for each curve: colour and marker by one word of it, dash by window and scope, and where that leaves two
     * alike, the next free look.
     */
    static List<SeriesStyle> styles(List<Curve> curves, Function<Curve, String> colourWord) {
        Map<String, Look> looks = new LinkedHashMap<>();
        List<SeriesStyle> styles = new ArrayList<>();
        Set<SeriesStyle> taken = new HashSet<>();
        int free = 0;
        boolean bothBases =
                curves.stream().map(curve -> curve.value("basis")).distinct().count() > 1;
        for (Curve curve : curves) {
            String word = colourWord.apply(curve);
            if (!looks.containsKey(word)) {
                looks.put(word, FIXED.containsKey(word) ? FIXED.get(word) : FREE.get(free++ % FREE.size()));
            }
            SeriesStyle style = style(looks.get(word), bothBases ? dashByBasis(curve) : dash(curve));
            for (int tries = 0; !taken.add(style) && tries < FREE.size(); tries++) {
                style = style(FREE.get(free++ % FREE.size()), style.dash());
            }
            styles.add(style);
        }
        return styles;
    }

    private static SeriesStyle style(Look look, SeriesStyle.Dash dash) {
        return new SeriesStyle(look.colour(), look.marker(), dash);
    }

    /** Where measured and modelled curves meet, the modelled ones are broken. */
    private static SeriesStyle.Dash dashByBasis(Curve curve) {
        if (!curve.value("basis").equals("modelled")) {
            return dash(curve);
        }
        return dash(curve) == SeriesStyle.Dash.SOLID ? SeriesStyle.Dash.SHORT : SeriesStyle.Dash.DASH_DOT;
    }

    private static SeriesStyle.Dash dash(Curve curve) {
        boolean cold = curve.value("window").equals("cold");
        boolean perLayer = curve.value("scope").equals("layer");
        if (curve.value("rest").equals("dense")) {
            return SeriesStyle.Dash.LONG;
        }
        if (cold) {
            return perLayer ? SeriesStyle.Dash.DASH_DOT : SeriesStyle.Dash.SHORT;
        }
        if (curve.value("scope").equals("miss-curve")) {
            return SeriesStyle.Dash.SHORT;
        }
        return perLayer ? SeriesStyle.Dash.LONG : SeriesStyle.Dash.SOLID;
    }

    /** The style of the n-th group of reported marks: black, no line, a shape no curve has by default. */
    static SeriesStyle reported(int n) {
        return new SeriesStyle(BLACK, REPORTED_MARKERS.get(n % REPORTED_MARKERS.size()), SeriesStyle.Dash.NONE);
    }
}
