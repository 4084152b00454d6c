"""Records which experts a router chose, in the canonical trace form that poolbench reads.

    recorder = Recorder("mine.trace", layers=48, experts=512, top_k=10)
    detach = attach_vllm(recorder)        # or attach_sglang(recorder), after the engine has started
    ...                                   # serve, one request at a time, without CUDA graphs
    recorder.close()                      # the file appears now, whole

Anything else calls recorder.record(layer, topk_ids, topk_weights) itself. Standard library alone; tensors are touched
only through tolist(), so that lists and arrays do as well.
"""

import array
import atexit
import importlib
import inspect
import math
import os
import struct
import sys

# Where the engines keep the function that returns top-k weights and ids: "module:attribute", tried in order.
VLLM_ROUTERS = (
    "vllm.model_executor.layers.fused_moe.router.base_router:BaseRouter.select_experts",
    "vllm.model_executor.layers.fused_moe.layer:FusedMoE.select_experts",
)
SGLANG_ROUTERS = (
    "sglang.srt.layers.moe.topk:select_experts",
)

_MAGIC = b"\x89EPTR\r\n\x1a"
_VERSION = 1
_WEIGHTED = 1
_STARTS_SEQUENCE = 1
_PREFILL = 2
_HEADER = struct.Struct("<8sIIIIIIQQ")
_FORWARD = struct.Struct("<III")
_LIMIT = 65535


class Recorder:
    """Writes forwards to a temporary file beside the target, which takes its place at close().

    layers, experts, top_k: the model's MoE layers, routed experts per layer, and routed experts per token.
    weights: whether router weights are kept. source: where the routing comes from, in words.
    """

    def __init__(self, path, layers, experts, top_k, weights=True, source="captured from a running router"):
        for name, value, limit in (("layers", layers, _LIMIT), ("experts", experts, _LIMIT), ("top_k", top_k, experts)):
            if not 1 <= value <= limit:
                raise ValueError(f"{name} is {value}, expected 1 to {limit}")
        self.layers, self.experts, self.top_k, self.weights = layers, experts, top_k, weights
        self.path = os.path.abspath(path)
        self.forwards = 0
        self._source = source.encode("utf-8")
        if len(self._source) > 65536:
            raise ValueError(f"source has {len(self._source)} bytes, expected at most 65536")
        self._layer_ids, self._layer_weights, self._tokens = [], [], 0
        self._position, self._last_was_prefill = 0, True
        self._start_next, self._prefill_next = True, None
        self._temporary = f"{self.path}.{os.getpid()}.tmp"
        self._file = open(self._temporary, "xb")
        self._file.write(self._header(0))
        atexit.register(self.close)

    def mark(self, starts_sequence=False, prefill=None):
        """Says what the next forward is. Unmarked, one of several tokens is a prefill chunk, and a prefill chunk after
        decode starts a sequence: right for one request at a time."""
        self._start_next = self._start_next or starts_sequence
        self._prefill_next = prefill

    def record(self, layer, topk_ids, topk_weights=None):
        """Takes one layer of a forward: [tokens][top_k] ids in router order, and weights where they are kept.

        Layers come in order, 0 to layers - 1; with the last one the forward is written. A fault is a ValueError, and
        nothing of this layer is kept.
        """
        if self._file is None:
            raise ValueError("the recorder is closed")
        if layer != len(self._layer_ids):
            raise ValueError(f"layer {layer} came, expected layer {len(self._layer_ids)}")
        ids = self._rows("ids", layer, topk_ids)
        self._check_ids(layer, ids)
        weights = None
        if self.weights:
            if topk_weights is None:
                raise ValueError(f"layer {layer} has no weights; pass them or record with weights=False")
            weights = self._rows("weights", layer, topk_weights)
            self._check_weights(layer, weights, len(ids))
        if layer == 0:
            self._tokens = len(ids)
        self._layer_ids.append(ids)
        self._layer_weights.append(weights)
        if layer == self.layers - 1:
            self._write_forward()

    def close(self):
        """Puts the file in place; without a whole forward there is none. A forward that lacks layers is left out."""
        if self._file is None:
            return
        if self._layer_ids:
            print(f"route capture: the last forward has {len(self._layer_ids)} of {self.layers} layers and is left out",
                  file=sys.stderr)
        if self.forwards == 0:
            self.discard("no whole forward was recorded")
            return
        size = self._file.tell()
        self._file.seek(0)
        self._file.write(self._header(size))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        os.replace(self._temporary, self.path)
        atexit.unregister(self.close)

    def discard(self, reason):
        """Gives up: no file appears."""
        if self._file is None:
            return
        print(f"route capture: {self.path} is not written: {reason}", file=sys.stderr)
        self._file.close()
        self._file = None
        os.remove(self._temporary)
        atexit.unregister(self.close)

    @property
    def closed(self):
        return self._file is None

    def _header(self, size):
        flags = _WEIGHTED if self.weights else 0
        head = _HEADER.pack(_MAGIC, _VERSION, flags, self.layers, self.experts, self.top_k, len(self._source),
                            self.forwards, size)
        return head + self._source + bytes(-(len(head) + len(self._source)) % 8)

    def _rows(self, what, layer, values):
        rows = values.tolist() if hasattr(values, "tolist") else [list(row) for row in values]
        if not rows:
            raise ValueError(f"layer {layer} has no tokens, expected at least one")
        for row in rows:
            if not isinstance(row, list) or len(row) != self.top_k:
                found = f"{len(row)} {what}" if isinstance(row, list) else f"a single number for {what}"
                raise ValueError(f"layer {layer} has {found} in a token, expected {self.top_k}")
        return rows

    def _check_ids(self, layer, ids):
        if layer > 0 and len(ids) != self._tokens:
            raise ValueError(f"layer {layer} has {len(ids)} tokens, expected {self._tokens} as in layer 0 (does the "
                             f"model have {self.layers} MoE layers?)")
        for row in ids:
            for expert in row:
                if expert != int(expert) or not 0 <= expert < self.experts:
                    raise ValueError(f"layer {layer} has expert {expert}, expected 0 to {self.experts - 1}")
            if len(set(row)) != len(row):
                raise ValueError(f"layer {layer} has an expert twice in one token: {row}")

    def _check_weights(self, layer, weights, tokens):
        if len(weights) != tokens:
            raise ValueError(f"layer {layer} has weights for {len(weights)} tokens, expected {tokens}")
        for row in weights:
            for weight in row:
                if not (math.isfinite(weight) and 0 <= weight < 3.4e38):
                    raise ValueError(f"layer {layer} has router weight {weight}, expected a finite number, at least 0")

    def _write_forward(self):
        prefill = self._tokens > 1 if self._prefill_next is None else self._prefill_next
        starts = self._start_next or (prefill and not self._last_was_prefill and self._prefill_next is None)
        if starts:
            self._position = 0
        flags = (_STARTS_SEQUENCE if starts else 0) | (_PREFILL if prefill else 0)
        self._file.write(_FORWARD.pack(flags, self._tokens, self._position))
        self._write_numbers("H", self._layer_ids)
        lanes = self.layers * self._tokens * self.top_k
        self._file.write(bytes(-2 * lanes % 4))
        if self.weights:
            self._write_numbers("f", self._layer_weights)
        self._position += self._tokens
        self._last_was_prefill, self._start_next, self._prefill_next = prefill, False, None
        self._layer_ids, self._layer_weights = [], []
        self.forwards += 1

    def _write_numbers(self, code, layers):
        numbers = array.array(code, [value if code == "f" else int(value) for rows in layers for row in rows for value in row])
        if sys.byteorder == "big":
            numbers.byteswap()
        numbers.tofile(self._file)


def attach_vllm(recorder):
    """Records what vLLM's router returns, weights first; gives back a function that undoes it."""
    return attach(recorder, VLLM_ROUTERS)


def attach_sglang(recorder):
    """As attach_vllm, for SGLang, whose router names its results."""
    return attach(recorder, SGLANG_ROUTERS)


def attach(recorder, routers):
    """Wraps the first of the routers that exists here. The n-th call of a forward is layer n. A fault ends the recording,
    never the model; the file then does not appear."""
    owner, name = _find(routers)
    kept = inspect.getattr_static(owner, name)
    router = kept.__func__ if isinstance(kept, staticmethod) else kept
    next_layer = 0

    def recording(*arguments, **named):
        nonlocal next_layer
        result = router(*arguments, **named)
        if not recorder.closed:
            try:
                ids, weights = _ids_and_weights(result)
                recorder.record(next_layer, ids, weights)
                next_layer = (next_layer + 1) % recorder.layers
            except Exception as fault:  # whatever it is, the model goes on
                recorder.discard(str(fault))
        return result

    setattr(owner, name, staticmethod(recording) if isinstance(kept, staticmethod) else recording)
    return lambda: setattr(owner, name, kept)


def _find(routers):
    for router in routers:
        module, _, path = router.partition(":")
        *outer, name = path.split(".")
        try:
            owner = importlib.import_module(module)
            for part in outer:
                owner = getattr(owner, part)
            getattr(owner, name)
            return owner, name
        except (ImportError, AttributeError):
            continue
    raise LookupError("no router found; tried " + ", ".join(routers))


def _ids_and_weights(result):
    if hasattr(result, "topk_ids"):
        return result.topk_ids, result.topk_weights
    return result[1], result[0]
