package org.expertpool.plots;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;

/** A whole figure laid out from top to bottom: title, what all share, plot, legend below it, caption. */
final class Page {
    /** Units of 1/120 inch: eight inches wide. */
    static final int WIDTH = 960;

    private static final int MARGIN = 22;
    private static final int PLOT_HEIGHT = 470;
    private static final int CATEGORY = 17;
    private static final int AROUND_CATEGORIES = 80;
    private static final int NOTE_LINE = 14;
    private static final Font TITLE = Text.font(Font.BOLD, 17);
    private static final Font SUBTITLE = Text.font(Font.PLAIN, 12);
    private static final Font NOTE = Text.font(Font.PLAIN, 10);

    private final FigureData figure;
    private final Legend legend;
    private final List<String> subtitle;
    private final List<String> notes = new ArrayList<>();

    Page(FigureData figure) {
        this.figure = figure;
        double inner = WIDTH - 2 * MARGIN;
        this.subtitle = Text.wrap(figure.subtitle(), SUBTITLE, inner);
        figure.notes().forEach(note -> notes.addAll(Text.wrap(note, NOTE, inner)));
        this.legend = new Legend(figure, inner);
    }

    private int plotTop() {
        int names = figure.verticals().isEmpty() ? 16 : 30;
        return MARGIN + 16 + 17 * subtitle.size() + names;
    }

    private int plotHeight() {
        return Math.max(
                PLOT_HEIGHT, AROUND_CATEGORIES + CATEGORY * figure.y().names().size());
    }

    private int legendTop() {
        return plotTop() + plotHeight() - AxesChart.PADDING;
    }

    int height() {
        return legendTop() + legend.height() + 10 + NOTE_LINE * notes.size() + MARGIN;
    }

    /** Paints the page in its own units. */
    void paint(Graphics2D g) {
        g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        g.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        g.setColor(Color.WHITE);
        g.fill(new Rectangle2D.Double(0, 0, WIDTH, height()));
        double left = MARGIN - AxesChart.PADDING;
        double top = (double) plotTop() - AxesChart.PADDING;
        g.translate(left, top);
        new ChartPainter(figure, WIDTH - 2 * (int) left, plotHeight()).paint(g);
        g.translate(-left, -top);
        Text.draw(g, figure.title(), TITLE, HouseStyle.INK, MARGIN, MARGIN + 12);
        for (int i = 0; i < subtitle.size(); i++) {
            Text.draw(g, subtitle.get(i), SUBTITLE, HouseStyle.QUIET, MARGIN, MARGIN + 32 + 17.0 * i);
        }
        legend.paint(g, MARGIN, legendTop());
        double noteTop = legendTop() + legend.height() + 18.0;
        for (int i = 0; i < notes.size(); i++) {
            Text.draw(g, notes.get(i), NOTE, HouseStyle.QUIET, MARGIN, noteTop + (double) NOTE_LINE * i);
        }
    }
}
