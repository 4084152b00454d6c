package org.expertpool.pool.cuda;

import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUresult;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.JCudaDriver;

/** Work captured from a stream once, to be launched again and again with whatever its fixed addresses then hold. */
public final class CudaGraph extends CudaResource {
    private final CUgraphExec executable = new CUgraphExec();

    private CudaGraph(CudaContext context, CUgraph captured) {
        super(context);
        CudaException.check(
                "instantiate a graph", "cuGraphInstantiate", JCudaDriver.cuGraphInstantiate(executable, captured, 0L));
        context.own(this);
    }

    /** Captures what {@code enqueue} puts on the stream. The stream is left usable if it fails. */
    public static CudaGraph capture(CudaContext context, CudaStream stream, Runnable enqueue) {
        CudaException.check(
                "begin a capture",
                "cuStreamBeginCapture",
                JCudaDriver.cuStreamBeginCapture(
                        stream.handle(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        CUgraph captured = new CUgraph();
        boolean complete = false;
        int ended;
        try {
            enqueue.run();
            complete = true;
        } finally {
            ended = JCudaDriver.cuStreamEndCapture(stream.handle(), captured);
            if (!complete && ended == CUresult.CUDA_SUCCESS) {
                JCudaDriver.cuGraphDestroy(captured); // the failure under way says more than this one's answer
            }
        }
        CudaException.check("end a capture", "cuStreamEndCapture", ended);
        CudaGraph graph;
        try {
            graph = new CudaGraph(context, captured);
        } catch (CudaException failure) {
            JCudaDriver.cuGraphDestroy(captured); // fails too where the context is lost, and says less
            throw failure;
        }
        CudaException.check("destroy a graph", "cuGraphDestroy", JCudaDriver.cuGraphDestroy(captured));
        return graph;
    }

    public void launch(CudaStream stream) {
        CudaException.check("launch a graph", "cuGraphLaunch", JCudaDriver.cuGraphLaunch(executable, stream.handle()));
    }

    @Override
    void release() {
        CudaException.check("destroy a graph", "cuGraphExecDestroy", JCudaDriver.cuGraphExecDestroy(executable));
    }
}
