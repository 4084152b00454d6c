package org.expertpool.plots;

import de.erichseifert.vectorgraphics2d.Document;
import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.regex.Pattern;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageTypeSpecifier;
import javax.imageio.ImageWriter;
import javax.imageio.metadata.IIOMetadata;
import javax.imageio.metadata.IIOMetadataNode;
import javax.imageio.stream.ImageOutputStream;

/** A page as PNG and SVG bytes, and files that appear whole or not at all. */
final class FigureFiles {
    /** 2,400 pixels across, 300 to the inch. */
    private static final double PIXELS_PER_UNIT = 2.5;

    private static final Pattern LONG_FRACTION = Pattern.compile("(\\d\\.\\d{2})\\d+");

    private FigureFiles() {}

    static byte[] png(Page page) throws IOException {
        int width = (int) (Page.WIDTH * PIXELS_PER_UNIT);
        int height = (int) (page.height() * PIXELS_PER_UNIT);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = image.createGraphics();
        g.scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT);
        page.paint(g);
        g.dispose();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ImageWriter writer = ImageIO.getImageWritersByFormatName("png").next();
        try (ImageOutputStream out = ImageIO.createImageOutputStream(bytes)) {
            writer.setOutput(out);
            BufferedImage small = Palette.reduce(image);
            writer.write(new IIOImage(small, null, resolution(writer, small)));
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }

    /** The chunk that tells documents how large the image is meant to be. */
    private static IIOMetadata resolution(ImageWriter writer, BufferedImage image) throws IOException {
        IIOMetadata metadata = writer.getDefaultImageMetadata(ImageTypeSpecifier.createFromRenderedImage(image), null);
        String pixelsPerMetre = Long.toString(Math.round(300 / .0254));
        IIOMetadataNode size = new IIOMetadataNode("pHYs");
        size.setAttribute("pixelsPerUnitXAxis", pixelsPerMetre);
        size.setAttribute("pixelsPerUnitYAxis", pixelsPerMetre);
        size.setAttribute("unitSpecifier", "meter");
        IIOMetadataNode root = new IIOMetadataNode("javax_imageio_png_1.0");
        root.appendChild(size);
        metadata.mergeTree(root.getNodeName(), root);
        return metadata;
    }

    /** The same page as SVG; coordinates to a hundredth of a unit keep the file small. */
    static byte[] svg(Page page) throws IOException {
        VectorGraphics2D g = new VectorGraphics2D();
        page.paint(g);
        Document document = new SVGProcessor().getDocument(g.getCommands(), new PageSize(Page.WIDTH, page.height()));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        document.writeTo(bytes);
        return LONG_FRACTION
                .matcher(bytes.toString(StandardCharsets.UTF_8))
                .replaceAll("$1")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Writes a file by way of a synced neighbour that is renamed. */
    static void write(Path file, byte[] bytes) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Path partial = file.resolveSibling(
                "." + file.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
        try {
            try (FileChannel channel = FileChannel.open(
                    partial,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE)) {
                ByteBuffer rest = ByteBuffer.wrap(bytes);
                while (rest.hasRemaining()) {
                    channel.write(rest);
                }
                channel.force(true);
            }
            Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(partial);
        }
    }
}
