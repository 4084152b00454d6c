package org.expertpool.plots;

import java.awt.image.BufferedImage;
import java.awt.image.DataBuffer;
import java.awt.image.IndexColorModel;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;

/** An image in its 256 most common colours, a third as large as a file; rare ones at the edges of lines become the nearest. */
final class Palette {
    private static final int COLOURS = 256;

    private Palette() {}

    static BufferedImage reduce(BufferedImage image) {
        int width = image.getWidth();
        int height = image.getHeight();
        int[] pixels = image.getRGB(0, 0, width, height, null, 0, width);
        int[] kept = mostCommon(pixels);
        IndexColorModel model = new IndexColorModel(8, kept.length, kept, 0, false, -1, DataBuffer.TYPE_BYTE);
        BufferedImage reduced = new BufferedImage(width, height, BufferedImage.TYPE_BYTE_INDEXED, model);
        Map<Integer, Integer> index = new HashMap<>();
        int[] row = new int[width];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int at = y * width + x;
                boolean same = x > 0 && pixels[at] == pixels[at - 1]; // most are: a figure is mostly paper
                row[x] = same ? row[x - 1] : index.computeIfAbsent(pixels[at], colour -> nearest(kept, colour));
            }
            reduced.getRaster().setPixels(0, y, width, 1, row);
        }
        return reduced;
    }

    private static int[] mostCommon(int[] pixels) {
        Map<Integer, Integer> counts = new HashMap<>();
        for (int from = 0; from < pixels.length; ) {
            int to = from + 1;
            while (to < pixels.length && pixels[to] == pixels[from]) {
                to++;
            }
            counts.merge(pixels[from], to - from, Integer::sum);
            from = to;
        }
        List<Entry<Integer, Integer>> order = counts.entrySet().stream()
                .sorted(Entry.<Integer, Integer>comparingByValue().reversed().thenComparing(Entry.comparingByKey()))
                .limit(COLOURS)
                .toList();
        return order.stream().mapToInt(Entry::getKey).toArray();
    }

    private static int nearest(int[] kept, int colour) {
        int best = 0;
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < kept.length; i++) {
            int distance = square(kept[i], colour, 16) + square(kept[i], colour, 8) + square(kept[i], colour, 0);
            if (distance < least) {
                least = distance;
                best = i;
            }
        }
        return best;
    }

    private static int square(int one, int other, int shift) {
        int difference = (one >> shift & 0xFF) - (other >> shift & 0xFF);
        return difference * difference;
    }
}
