package org.expertpool.plots;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.geom.Line2D;
import java.awt.geom.Point2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.expertpool.plots.LabelPlacer.Leaning;
import org.junit.jupiter.api.Test;

class LabelPlacerTest {
    private final Rectangle2D plot = new Rectangle2D.Double(0, 0, 800, 400);
    private final LabelPlacer placer = new LabelPlacer(plot);

    @Test
    void requiredLabelsStayInsideAndApart() {
        SplittableRandom random = new SplittableRandom(1);
        List<Rectangle2D> boxes = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Point2D point = new Point2D.Double(random.nextDouble(800), random.nextDouble(400));
            Leaning leaning = i % 2 == 0 ? Leaning.UP : Leaning.LEFT;
            Rectangle2D box = placer.place(point, 60, 12, leaning, true).orElseThrow();
            assertThat(plot.contains(box)).isTrue();
            assertThat(boxes).noneMatch(box::intersects);
            boxes.add(box);
        }
    }

    @Test
    void leansTheWayItIsToldWhereThereIsRoom() {
        Point2D point = new Point2D.Double(400, 200);
        assertThat(placer.place(point, 60, 12, Leaning.LEFT, true).orElseThrow().getMaxX())
                .isLessThan(400);
        assertThat(placer.place(point, 60, 12, Leaning.RIGHT, true)
                        .orElseThrow()
                        .getMinX())
                .isGreaterThan(400);
        assertThat(placer.place(point, 60, 12, Leaning.UP, true).orElseThrow().getMaxY())
                .isLessThan(200);
    }

    @Test
    void anOptionalLabelGivesWayToLinesAndMarkers() {
        Point2D point = new Point2D.Double(400, 200);
        for (int dy = -40; dy <= 40; dy += 8) {
            placer.avoidLine(new Line2D.Double(300, 200 + dy, 500, 200 + dy));
        }
        assertThat(placer.place(point, 30, 12, Leaning.UP, false)).isEmpty();
        assertThat(placer.place(point, 30, 12, Leaning.UP, true)).isPresent();
    }

    @Test
    void aLeaderGoesAroundOtherMarkersAndLabels() {
        Point2D upper = new Point2D.Double(400, 100);
        Point2D lower = new Point2D.Double(400, 130);
        for (Point2D point : List.of(upper, lower)) {
            placer.avoidMarker(point.getX(), point.getY(), 6);
        }
        for (int y = 104; y < 180; y += 6) {
            placer.avoidLine(new Line2D.Double(200, y, 600, y));
        }
        Rectangle2D first = placer.place(upper, 80, 12, Leaning.LEFT, true).orElseThrow();
        Rectangle2D second = placer.place(lower, 80, 12, Leaning.LEFT, true).orElseThrow();
        assertThat(second.intersects(first)).isFalse();
        LabelPlacer.leader(lower, second).ifPresent(leader -> {
            assertThat(leader.intersects(first)).isFalse();
            assertThat(leader.intersects(394, 94, 12, 12)).isFalse();
        });
    }

    @Test
    void aLinesNameAvoidsMarkers() {
        for (int x = 300; x <= 800; x += 10) {
            placer.avoidMarker(x, 195, 5);
            placer.avoidMarker(x, 205, 5);
        }
        assertThat(placer.placeAlong(200, 100, 12).getMaxX()).isLessThanOrEqualTo(295);
    }
}
