package org.expertpool.plots;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.awt.geom.AffineTransform;
import java.util.ArrayList;
import java.util.List;

/** Text as filled outlines, so that PNG and SVG look the same on machines with other fonts. */
final class Text {
    private static final FontRenderContext CONTEXT = new FontRenderContext(null, true, true);

    private Text() {}

    /** DejaVu Sans where it is there, else the platform's sans serif. */
    static Font font(int style, float size) {
        Font wanted = new Font("DejaVu Sans", style, 12);
        Font font = wanted.getFamily().equals("DejaVu Sans") ? wanted : new Font(Font.SANS_SERIF, style, 12);
        return font.deriveFont(size);
    }

    static double width(String text, Font font) {
        return text.isBlank() ? 0 : new TextLayout(text, font, CONTEXT).getAdvance();
    }

    /** Draws with the baseline's left end at x, y. */
    static void draw(Graphics2D g, String text, Font font, Color colour, double x, double y) {
        if (!text.isBlank()) {
            g.setColor(colour);
            g.fill(new TextLayout(text, font, CONTEXT).getOutline(AffineTransform.getTranslateInstance(x, y)));
        }
    }

    /** Lines no wider than given, broken at spaces, and inside a word only where it alone is wider. */
    static List<String> wrap(String text, Font font, double width) {
        List<String> lines = new ArrayList<>();
        String line = "";
        for (String word : text.split(" ", -1)) {
            String rest = word;
            if (!line.isEmpty() && width(line + " " + rest, font) <= width) {
                rest = line + " " + rest;
            } else if (!line.isEmpty()) {
                lines.add(line);
            }
            while (rest.length() > 1 && width(rest, font) > width) {
                int cut = rest.length() - 1;
                while (cut > 1 && width(rest.substring(0, cut), font) > width) {
                    cut--;
                }
                lines.add(rest.substring(0, cut));
                rest = rest.substring(cut);
            }
            line = rest;
        }
        lines.add(line);
        return lines;
    }
}
