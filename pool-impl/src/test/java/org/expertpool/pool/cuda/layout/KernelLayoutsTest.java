package org.expertpool.pool.cuda.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.expertpool.pool.cuda.NativeCompiler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java layouts beside what a C++ compiler makes of the header. */
class KernelLayoutsTest {
    @TempDir
    Path folder;

    @Test
    void equalsTheHeaderInEveryStructAndField() throws Exception {
        List<String> expected = new ArrayList<>(List.of("struct,field,offset,bytes"));
        expected.add("kLayoutVersion,,0," + KernelLayouts.VERSION);
        expected.add("kMaxLanes,,0," + KernelLayouts.MAX_LANES);
        expected.add("kMaxExperts,,0," + KernelLayouts.MAX_EXPERTS);
        expected.add("kMaxRowParts,,0," + KernelLayouts.MAX_ROW_PARTS);
        expected.add("kPlanThreads,,0," + KernelLayouts.PLAN_THREADS);
        expected.add("kCopyThreads,,0," + KernelLayouts.COPY_THREADS);
        expected.add("kTileChannels,,0," + MoeLayouts.TILE_CHANNELS);
        expected.add("kMaxDecodeLanes,,0," + MoeLayouts.MAX_DECODE_LANES);
        expected.add("kChunkK,,0," + MoeLayouts.CHUNK_K);
        expected.add("kAlignThreads,,0," + MoeLayouts.ALIGN_THREADS);
        expected.add("kSumThreads,,0," + MoeLayouts.SUM_THREADS);
        expected.add("kPartitionThreads,,0," + PartitionLayouts.PARTITION_THREADS);
        expected.add("kRouteThreads,,0," + RouteLayouts.THREADS);
        expected.add("kStandInThreads,,0," + ModelLayouts.STAND_IN_THREADS);
        expected.add("kStandInBlocksPerProcessor,,0," + ModelLayouts.STAND_IN_BLOCKS_PER_PROCESSOR);
        expected.add("kRouterTokens,,0," + ModelLayouts.ROUTER_TOKENS);
        expected.add("kRouterWarps,,0," + ModelLayouts.ROUTER_WARPS);
        expected.add("kChooseThreads,,0," + ModelLayouts.CHOOSE_THREADS);
        expected.add("kConvertThreads,,0," + ConvertLayouts.CONVERT_THREADS);
        expected.add("kProjections,,0," + ConvertLayouts.PROJECTIONS);
        expected.add("kScaleValues,,0," + ConvertLayouts.SCALE_VALUES);
        expected.add("kFastestDecodeTokens,,0," + MoeLayouts.FASTEST_DECODE_TOKENS);
        for (int tokens : new int[] {1, 128, 129, 640, 641, 8192}) {
            expected.add("fastestBlockLanes,,%d,%d"
                    .formatted(tokens, MoeLayouts.fastestAligned(tokens).lanes()));
        }
        for (int words : new int[] {4, 8192, 8196, 1048576, 1048577}) {
            expected.add("routeBlocks,,%d,%d".formatted(words, RouteLayouts.blocks(words)));
        }
        expected.add("decodeCounts,,2560," + MoeLayouts.decodeCounts(2560));
        for (TokenGrid grid : List.of(
                new TokenGrid(10, 2560, 640, 132), new TokenGrid(8, 2048, 768, 114), new TokenGrid(2, 192, 64, 5))) {
            expected.add("TokenGrid,sharedBytes,%d,%d".formatted(grid.blocks(), grid.sharedBytes()));
            expected.add("TokenGrid,exchangeWords,%d,%d".formatted(grid.blocks(), grid.exchangeWords()));
            boolean asItIs = grid.fits(grid.sharedBytes()) && !grid.fits(grid.sharedBytes() - 1);
            expected.add("TokenGrid,fits,%d,%d".formatted(grid.blocks(), asItIs ? 1 : 0));
        }
        for (TokenGrid refused : List.of(
                new TokenGrid(10, 2560, 640, 1),
                new TokenGrid(1, 65536, 1024, 64),
                new TokenGrid(10, 2560, 640, 1024))) {
            assertThat(refused.fits(1L << 40)).isFalse();
            expected.add("TokenGrid,fits,%d,0".formatted(refused.blocks()));
        }
        block(expected, "kDecode", MoeLayouts.DECODE);
        block(expected, "kToken", MoeLayouts.TOKEN);
        block(expected, "kAligned8", MoeLayouts.ALIGNED_8);
        block(expected, "kAligned16", MoeLayouts.ALIGNED_16);
        block(expected, "kAligned32", MoeLayouts.ALIGNED_32);
        List<StructLayout> structs = new ArrayList<>(KernelLayouts.all());
        structs.addAll(MoeLayouts.all());
        structs.addAll(PartitionLayouts.all());
        structs.addAll(RouteLayouts.all());
        structs.addAll(ModelLayouts.all());
        structs.addAll(ConvertLayouts.all());
        for (StructLayout struct : structs) {
            expected.add("%s,,0,%d".formatted(struct.name(), struct.bytes()));
            for (StructLayout.Field field : struct.fields()) {
                expected.add("%s,%s,%d,%d".formatted(struct.name(), field.name(), field.offset(), field.bytes()));
            }
        }
        assertThat(probe()).containsExactlyElementsOf(expected);
    }

    @Test
    void findsAnOffsetByName() {
        assertThat(KernelLayouts.PLAN_PARAMS.offset("layer")).isEqualTo(104);
        assertThatThrownBy(() -> KernelLayouts.PLAN_PARAMS.offset("rows"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("PlanParams has no field rows");
    }

    @Test
    void refusesHolesAndWrongSizes() {
        assertThatThrownBy(() -> StructLayout.struct("S").i32("a").bytes(8)).hasMessage("S has 8 bytes, its fields 4");
        List<StructLayout.Field> hole = List.of(new StructLayout.Field("a", 4, 4));
        assertThatThrownBy(() -> new StructLayout("S", 8, hole))
                .hasMessage("S.a starts at 4, but 0 bytes come before it");
    }

    private static void block(List<String> expected, String name, MoeBlock block) {
        expected.add("%s,threads,0,%d".formatted(name, block.threads()));
        expected.add("%s,lanes,0,%d".formatted(name, block.lanes()));
        expected.add("%s,gateUpParts,832,%d".formatted(name, block.tiles() < 2 ? 0 : block.gateUpParts(832)));
        expected.add("%s,downParts,832,%d".formatted(name, block.downParts(832)));
        for (int lanes : new int[] {1, 3, block.lanes()}) {
            expected.add("%s,sharedBytes,%d,%d".formatted(name, lanes, block.sharedBytes(lanes)));
        }
    }

    private List<String> probe() throws Exception {
        Path kernels = Path.of("../kernels-cu").toAbsolutePath().normalize();
        assumeTrue(Files.isDirectory(kernels), "kernels-cu's sources are not beside this module");
        Path program = folder.resolve("layout_probe");
        NativeCompiler.CXX.compile(
                folder,
                "-std=c++17",
                "-I" + kernels.resolve("include"),
                kernels.resolve("probe/layout_probe.cpp").toString(),
                "-o",
                program.toString());
        Process process = new ProcessBuilder(program.toString()).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output.lines().toList();
    }
}
