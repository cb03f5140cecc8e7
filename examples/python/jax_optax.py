# SPDX-License-Identifier: Apache-2.0
# A loop of JAX and optax whose ranks are MPI processes; the reducer stands between two jitted functions.
# mpirun -n 2 python3 jax_optax.py
import jax
import jax.numpy as jnp
import laconic
import numpy as np
import optax
from mpi4py import MPI

comm = MPI.COMM_WORLD
keys = jax.random.split(jax.random.PRNGKey(comm.rank), 2)
inputs = jax.random.normal(keys[0], (256, 50))
targets = jnp.sin(inputs[:, :5].sum(1, keepdims=True))
layers = jax.random.split(jax.random.PRNGKey(0), 2)  # the same weights on all ranks
model = {"a": jax.random.normal(layers[0], (50, 512)) / 7, "b": jax.random.normal(layers[1], (512, 1)) / 22}
optimizer = optax.adam(1e-3)
state = optimizer.init(model)


@jax.jit
def backward(model):
    return jax.value_and_grad(lambda m: jnp.mean((jnp.tanh(inputs @ m["a"]) @ m["b"] - targets) ** 2))(model)


@jax.jit
def update(model, state, gradients):
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(model, updates), state


reduce = laconic.Reducer("error_feedback(top_k(0.05))", comm, model)
for step in range(200):
    loss, gradients = backward(model)
    gradients = {name: np.array(g) for name, g in gradients.items()}  # JAX's own arrays are read-only
    reduce(gradients)
    model, state = update(model, state, gradients)
if comm.rank == 0:
    s = reduce.statistics
    print(f"loss {loss:.3f}, {s.bytes_sent // s.steps} bytes a step of {s.bytes_in_full // s.steps}")
