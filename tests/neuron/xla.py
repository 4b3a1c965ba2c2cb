"""XLA's CPU client, as the judges of the modules use it: tests/neuron/judge, judge-courses and operators.

Wants jaxlib on PYTHONPATH (tests/judges/xla). Imported before jax, since the number of devices is read once.
"""
import json
import math
import os
import struct

DEVICES = 4
# A module is compiled for a few executions alone: half of the time goes into optimizing it.
FLAGS = f"--xla_force_host_platform_device_count={DEVICES} --xla_backend_optimization_level=0"
os.environ["XLA_FLAGS"] = f"{FLAGS} {os.environ.get('XLA_FLAGS', '')}"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import numpy  # noqa: E402
from jax._src.lib import xla_client  # noqa: E402

DTYPES = {"F32": numpy.float32, "I32": numpy.int32}


def tensors(path):
    """A safetensors file as arrays, by name."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    return {name: numpy.frombuffer(data, DTYPES[t["dtype"]], math.prod(t["shape"]),
                                   8 + size + t["data_offsets"][0]).reshape(t["shape"])
            for name, t in header.items() if name != "__metadata__"}


def same_module(text, proto):
    """Whether XLA reads one module from the text and from the bytes."""
    def canonical(computation):
        return computation.as_hlo_text().split("\n", 1)[1]
    parsed = xla_client.hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    return canonical(xla_client.XlaComputation(proto)) == canonical(xla_client.XlaComputation(parsed))


class Program:
    """A module that XLA has compiled, for one device or for as many as it has replicas."""

    def __init__(self, proto, replicas=1):
        client = jax.devices("cpu")[0].client
        self.devices = client.devices()[:replicas]
        options = xla_client.CompileOptions()
        options.num_replicas = replicas
        mlir = xla_client._xla.mlir.xla_computation_to_mlir_module(xla_client.XlaComputation(proto))
        self.program = client.compile_and_load(mlir, self.devices, options)

    def __call__(self, values):
        """Of one device: arrays to arrays."""
        return self.on_replicas([values])[0]

    def on_replicas(self, values):
        """values[replica][input] to results[replica][i]."""
        given = [self.spread([one[i] for one in values]) for i in range(len(values[0]))]
        out = self.program.execute_sharded(given).disassemble_into_single_device_arrays()
        return [[numpy.asarray(result[replica]) for result in out] for replica in range(len(self.devices))]

    def spread(self, values):
        """An array of each device: one to JAX, which takes them for copies and does not look."""
        mesh = jax.sharding.Mesh(numpy.array(self.devices), ("replica",))
        whole = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
        parts = [jax.device_put(value, device) for value, device in zip(values, self.devices)]
        return jax.make_array_from_single_device_arrays(values[0].shape, whole, parts)
