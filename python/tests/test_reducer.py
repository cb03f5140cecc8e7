# SPDX-License-Identifier: Apache-2.0
"""laconic over numpy arrays. Ranks are threads: the library computes and waits without Python's lock."""

import contextlib
import sys
import threading
import unittest
import warnings
import weakref

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import laconic


class Together:
    """As many ranks as threads, with an all-gather of bytes."""

    def __init__(self, size):
        self.size, self.blocks, self.barrier = size, [None] * size, threading.Barrier(size, timeout=60)

    def run(self, body):
        """Calls body(comm) on each rank and returns all results; raises what a rank raises."""
        results, raised = [None] * self.size, []

        def of(rank):
            try:
                results[rank] = body(Member(self, rank))
            except BaseException as error:
                raised.append(error)
                self.barrier.abort()

        threads = [threading.Thread(target=of, args=[rank]) for rank in range(self.size)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if raised:
            raise raised[0]
        return results


class Member:
    def __init__(self, of, rank):
        self.of, self.rank, self.size = of, rank, of.size

    def allgather(self, mine):
        self.of.blocks[self.rank] = mine
        self.of.barrier.wait()
        theirs = list(self.of.blocks)
        self.of.barrier.wait()
        return theirs


def gradient(rank, step, d=60):
    return np.random.default_rng([rank, step]).normal(size=d)


def top(x, k):
    """x without all but its k largest magnitudes."""
    kept = np.zeros_like(x)
    at = np.argsort(-np.abs(x))[:k]
    kept[at] = x[at]
    return kept


class ReducerTest(unittest.TestCase):
    def test_error_feedback_is_what_numpy_computes(self):
        for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-14)):

            def body(comm, dtype=dtype):
                reduce = laconic.Reducer("error_feedback(top_k(k=6))", comm, np.zeros(60, dtype))
                out = []
                for step in range(10):
                    x = gradient(comm.rank, step).astype(dtype)
                    reduce(x)
                    out.append(x)
                self.assertLess(reduce.statistics.bytes_sent, reduce.statistics.bytes_in_full / 3)
                self.assertEqual(reduce.steps, 10)
                return out

            found = Together(3).run(body)
            residuals = [np.zeros(60, dtype) for _ in range(3)]
            for step in range(10):
                messages = []
                for r in range(3):
                    delta = gradient(r, step).astype(dtype) + residuals[r]
                    messages.append(top(delta, 6))
                    residuals[r] = delta - messages[r]
                for r in range(3):
                    np.testing.assert_allclose(found[r][step], np.mean(messages, axis=0), rtol=0, atol=tolerance)
                    np.testing.assert_array_equal(found[r][step], found[0][step])

    def test_layers_of_several_types_in_any_order(self):
        def body(comm):
            layers = {"w": np.full((3, 4), comm.rank, np.float32), "b": np.full(5, 1 + comm.rank, np.float16)}
            reduce = laconic.Reducer("plain(identity)", comm, layers, in_full=["b"])
            for names in (["w", "b"], ["b", "w"], ["w", "b"]):
                now = {name: layers[name].copy() for name in names}
                reduce(now)
                self.assertTrue((now["w"] == 0.5).all() and (now["b"] == 1.5).all())
                self.assertEqual((now["w"].shape, now["b"].dtype), ((3, 4), np.float16))

        Together(2).run(body)

    def test_a_layer_of_zeros_on_all_ranks_keeps_its_residual(self):
        def body(comm):
            layers = {"a": np.zeros(60, np.float32), "b": np.zeros(60, np.float32)}
            reduce = laconic.Reducer("error_feedback(top_k(k=6))", comm, layers, skip_zero_layers=True)
            reduce({"a": gradient(comm.rank, 0).astype(np.float32), "b": gradient(comm.rank, 1).astype(np.float32)})
            a, b = reduce.residual("a"), reduce.residual("b")
            now = {"a": np.zeros(60, np.float32), "b": np.full(60, comm.rank, np.float32)}
            reduce(now)
            self.assertFalse(now["a"].any())
            self.assertTrue(now["b"].any())
            np.testing.assert_array_equal(reduce.residual("a"), a)
            self.assertFalse((reduce.residual("b") == b).all())

        Together(2).run(body)

    def test_ranks_with_like_gradients_that_correlate_their_rounding_leave_less_error(self):
        def body(comm):
            errors = []
            for correlated in (False, True):
                x = np.zeros(60)
                reduce = laconic.Reducer("plain(uniform(4, bucket=60))", comm, x, seed=1, correlated=correlated)
                error = 0
                for step in range(20):
                    x[:] = gradient(0, step)
                    reduce(x)
                    error += ((x - gradient(0, step)) ** 2).sum()
                errors.append(error)
            self.assertLess(2 * errors[1], errors[0])

        Together(4).run(body)

    def test_low_rank_is_a_power_method_over_the_matrices_of_the_layers(self):
        def body(comm):
            of = lambda step, d: gradient(comm.rank, 0, d) + 0.1 * step * gradient(comm.rank, 1, d)
            layers = {"w": np.zeros((12, 5)), "kernel": np.zeros((3, 2, 7), order="F"), "b": np.zeros(9)}
            shapes = {"w": (12, 5), "kernel": (7, 6), "b": (1, 9)}  # as they lie in memory
            text = "unproved(error_feedback(low_rank(rank=2, warm_start=yes)))"
            reduce = laconic.Reducer(text, comm, layers)
            left = {name: np.zeros(shape) for name, shape in shapes.items()}
            sent = {}
            for step in range(6):
                for name, x in layers.items():
                    x.ravel("K")[:] = of(step, x.size)
                    now = of(step, x.size).reshape(shapes[name]) + left[name]
                    reduce.start(name, x)
                    left[name] = now
                reduce.finish()
                for name, now in left.items():
                    left[name] = reduce.residual(name).reshape(shapes[name])
                    expected = now
                    if name != "b" and step > 0:
                        q = np.linalg.svd(sent[name])[2][:2].T  # the span of the last factor of the shorter side
                        p = np.linalg.qr(now @ q)[0]
                        expected = p @ (p.T @ now)
                    sent[name] = now - left[name]
                    if name == "b" or step > 0:
                        np.testing.assert_allclose(sent[name], expected, rtol=0, atol=1e-5)
            numbers = 2 * (12 + 5) + 2 * (7 + 6) + (9 + 1)
            self.assertLess(abs(reduce.statistics.bytes_sent / 6 - 8 * numbers), 16)

        Together(2).run(body)

    def test_a_restored_state_goes_on_as_the_saved_one(self):
        def body(comm):
            def steps(reduce, first, last):
                out = []
                for step in range(first, last):
                    out.append(gradient(comm.rank, step))
                    reduce(out[-1])
                return out

            text = "error_feedback(top_k(0.1) | quantize(4))"
            a = laconic.Reducer(text, comm, np.zeros(60), seed=3)
            steps(a, 0, 5)
            state = a.state()
            after = steps(a, 5, 9)
            b = laconic.Reducer(text, comm, np.zeros(60), seed=3)
            b.restore(state)
            np.testing.assert_array_equal(after, steps(b, 5, 9))
            states = comm.allgather(state)
            b.restore(states)
            np.testing.assert_array_equal(after, steps(b, 5, 9))
            with self.assertRaises(laconic.WireError):
                b.restore(state[:-1])
            return states

        states = Together(2).run(body)[0]

        def alone(comm):
            c = laconic.Reducer("error_feedback(top_k(0.1) | quantize(4))", comm, np.zeros(60), seed=3)
            c.restore(states)
            self.assertEqual(c.steps, 5)

            return c.state()

        state = Together(1).run(alone)[0]

        def on_more(comm):
            d = laconic.Reducer("error_feedback(top_k(0.1) | quantize(4))", comm, np.zeros(60), seed=3)
            d.restore([state])
            self.assertEqual(d.steps, 5)
            d(gradient(comm.rank, 5))

        Together(3).run(on_more)

    def test_resumes_with_another_k_and_other_layers(self):
        def body(comm):
            layers = {"w": np.zeros(60, np.float32), "b": np.zeros(5, np.float32)}
            a = laconic.Reducer("error_feedback(top_k(k=3))", comm, layers, seed=1)
            a({"w": gradient(comm.rank, 0).astype(np.float32), "b": np.ones(5, np.float32)})
            left = a.residual("w")
            self.assertEqual(np.count_nonzero(left), 57)
            layers = {"w": np.zeros(60, np.float32), "c": np.zeros(4, np.float32)}
            b = laconic.Reducer("error_feedback(top_k(k=4))", comm, layers, seed=1)
            with self.assertRaises(laconic.ShapeError):
                b.restore(a.state())
            told = "; ".join(b.resume(a.state()))
            self.assertTrue(" b" in told and " c" in told, told)
            np.testing.assert_array_equal(b.residual("w"), left)
            b.set_residual(np.arange(4), "c")
            with self.assertRaisesRegex(laconic.ArgumentError, "layer c: the residual is not finite at coordinate 2"):
                b.set_residual([0, 1, np.nan, 3], "c")
            np.testing.assert_array_equal(b.residual("c"), np.arange(4))
            with self.assertRaises(laconic.ShapeError):
                b.set_residual(np.arange(5), "c")

        Together(2).run(body)

    def test_errors_are_those_of_the_library_on_all_ranks(self):
        def body(comm):
            reduce = laconic.Reducer("error_feedback(top_k(0.1))", comm, {"w": np.zeros(20, np.float32)})
            x = np.ones(20, np.float32)
            if comm.rank == 1:
                x[3] = np.nan
            with self.assertRaisesRegex(laconic.NonFiniteError, "rank 1.*coordinate 3 of layer w"):
                reduce({"w": x})
            self.assertEqual(x[0], 1)
            with self.assertRaisesRegex(laconic.CompressionError, "rank 0.*21 numbers, where the reducer has 20"):
                reduce({"w": np.zeros(21 - comm.rank, np.float32)})
            with self.assertRaisesRegex(laconic.ArgumentError, "no layer 'v'.*'w'"):
                reduce({"v": x})
            with self.assertRaisesRegex(laconic.ArgumentError, "float64"):
                reduce({"w": np.zeros(20)})
            with self.assertRaisesRegex(laconic.ArgumentError, "not contiguous"):
                reduce({"w": np.zeros(40, np.float32)[::2]})
            with self.assertRaisesRegex(laconic.ArgumentError, "read-only"):
                frozen = np.zeros(20, np.float32)
                frozen.flags.writeable = False
                reduce({"w": frozen})
            with self.assertRaisesRegex(laconic.ArgumentError, "int64"):
                reduce({"w": np.zeros(20, np.int64)})
            reduce({"w": np.ones(20, np.float32)})
            self.assertEqual(reduce.steps, 1)
            with self.assertRaisesRegex(laconic.AgreementError, "identity"):
                laconic.Reducer(f"plain({'identity' if comm.rank else 'natural'})", comm, x)

        Together(2).run(body)
        x = np.zeros(3)
        with self.assertRaisesRegex(laconic.ParseError, "did you mean top_k"):
            laconic.Reducer("error_feedback(top_q(0.1))", None, x)
        with self.assertRaisesRegex(laconic.TheoryError, "biased"):
            laconic.Reducer("plain(top_k(0.1))", None, x)
        with self.assertRaisesRegex(laconic.ArgumentError, "non_finite is 'ignore'"):
            laconic.Reducer("plain(identity)", None, x, non_finite="ignore")
        for name in ("seed", "dense_below", "dense_rounds", "share_below", "probe_every", "verify_every"):
            for value in (-1, 2**64):
                with self.assertRaisesRegex(laconic.ArgumentError, f"{name} is {value}: it must be from 0"):
                    laconic.Reducer("plain(identity)", None, x, **{name: value})
        with self.assertRaisesRegex(laconic.ArgumentError, "list is no communicator"):
            laconic.Reducer("plain(identity)", [], x)

    def test_what_a_communicator_raises_is_the_cause(self):
        class Broken:
            rank, size, works = 0, 1, True

            def allgather(self, mine):
                if not self.works:
                    raise OSError("the cable is out")
                return [mine]

        comm = Broken()
        reduce = laconic.Reducer("plain(identity)", comm, np.zeros(3))
        comm.works = False
        x = np.ones(3)
        with self.assertRaisesRegex(laconic.CommError, "the cable is out") as caught:
            reduce(x)
        self.assertIsInstance(caught.exception.__cause__, OSError)
        comm.works = True
        reduce.rebind(comm)
        reduce(x)
        self.assertTrue((x == 1).all())

    def test_it_is_the_cause_also_where_a_later_call_fails(self):
        works, lanes = [True], {}

        def start(lane, mine, everything):
            if not works[0]:
                raise KeyboardInterrupt
            lanes[lane] = mine, everything

        def finish(lane):
            np.copyto(lanes[lane][1][0], lanes[lane][0])

        layers = {"a": np.ones(300, np.float32), "b": np.ones(300, np.float32)}
        reduce = laconic.Reducer("plain(identity)", laconic.Comm(0, 1, start, finish), layers, share_below=0)
        for _ in range(2):
            reduce(layers)
        works[0] = False
        with self.assertRaises(KeyboardInterrupt):
            reduce(layers)
        self.assertIsNone(reduce._comm.raised)

        works[0] = True
        comm = laconic.Comm(0, 1, start, finish)
        reduce = laconic.Reducer("plain(identity)", comm, layers, share_below=0)
        for _ in range(2):
            reduce(layers)
        works[0] = False
        reduce.start("a", layers["a"])
        self.assertIsInstance(comm.raised, KeyboardInterrupt)
        with contextlib.suppress(laconic.CommError, KeyboardInterrupt):
            reduce.drop()
        self.assertIsNone(comm.raised)

    def test_over_tcp_a_reducer_computes_the_same_and_bytes_of_any_length_are_gathered(self):
        def steps(comm):
            reduce = laconic.Reducer("error_feedback(top_k(k=6))", comm, np.zeros(60), seed=1)
            out = []
            for step in range(4):
                x = gradient(comm.rank, step)
                reduce(x)
                out.append(x)
            x = gradient(comm.rank, 9, 1000)
            laconic.sum(x, comm)
            np.testing.assert_allclose(x, np.sum([gradient(r, 9, 1000) for r in range(3)], axis=0), atol=1e-12)
            return np.array(out)

        listeners = [laconic.Listener("127.0.0.1:0") for _ in range(3)]
        meet = laconic.Listener("127.0.0.1:0").address  # whose port is free again

        def body(member):
            comm = listeners[member.rank].connect(member.rank, [l.address for l in listeners], deadline=60)
            self.assertEqual((comm.rank, comm.size), (member.rank, 3))
            met = laconic.Tcp(member.rank, 3, meet, deadline=60)
            for n in (0, 1, 100000):
                self.assertEqual(met.allgather(b"%d" % met.rank * n * met.rank), [b"", b"1" * n, b"2" * 2 * n])
                self.assertEqual(laconic.as_comm(member).allgather(b"x" * n * member.rank), [b"", b"x" * n, b"x" * 2 * n])
            np.testing.assert_array_equal(steps(comm), steps(member))
            if comm.rank == 2:
                return None
            with self.assertRaisesRegex(laconic.CommError, "rank 2 has ended"):
                comm.allgather(b"")

        Together(3).run(body)
        with self.assertRaisesRegex(laconic.ArgumentError, "HOST:PORT"):
            laconic.Tcp(0, 1, "here")
        with self.assertRaisesRegex(laconic.CommError, "rank 1 did not connect to .* within 100 ms"):
            laconic.Tcp(0, 2, meet, deadline=0.1)

    def test_first_weights(self):
        def body(comm):
            model = {"w": np.full(5, comm.rank, np.float32), "b": np.full(2, 3 + comm.rank, np.float16)}
            reduce = laconic.Reducer("plain(identity)", comm, model)
            reduce.broadcast(model)
            self.assertTrue((model["w"] == 0).all() and (model["b"] == 3).all())
            with self.assertRaises(laconic.Error):
                reduce.broadcast(np.zeros(2 + comm.rank, np.float32))
            self.assertLess(reduce.statistics.bytes_on_link, 20)  # which are of its making

        Together(2).run(body)

    def test_numbers_of_16_bits_take_half_of_the_bytes(self):
        def body(comm):
            reduce = laconic.Reducer("unproved(plain(bf16))", comm, np.zeros(1000, np.float32))
            x = gradient(comm.rank, 0, 1000).astype(np.float32)
            reduce(x)
            self.assertLess(reduce.statistics.bytes_sent, 2100)
            np.testing.assert_allclose(x, np.mean([gradient(r, 0, 1000) for r in range(7)], axis=0), atol=0.01)

        Together(7).run(body)

    def test_a_rule_in_place_of_a_collective_ignores_a_rank_that_sends_anything(self):
        def body(comm):
            reduce = laconic.Reducer("plain(over=robust(trimmed_mean(1)))", comm, np.zeros(50))
            x = gradient(comm.rank, 0, 50) if comm.rank != 2 else np.full(50, 1e6)
            reduce(x)
            others = np.sort([gradient(r, 0, 50) for r in (0, 1, 3, 4)], axis=0)
            np.testing.assert_allclose(x, np.mean(others[1:], axis=0), rtol=1e-6)
            with self.assertRaisesRegex(laconic.ArgumentError, "krum needs more than 6 ranks"):
                laconic.Reducer("plain(over=robust(krum(2)))", comm, x)(x)

        Together(5).run(body)
        self.assertIn("robust(rule=coordinate_median, beside_memory=no)", laconic.names("collectives"))

    def test_a_residual_that_is_stored_compressed_takes_a_byte_a_number(self):
        def body(comm):
            text = "unproved(loco(block_float(int4), block_float(int8)))"
            reduce = laconic.Reducer(text, comm, np.zeros(2000, np.float32))
            same = laconic.Reducer(text, comm, np.zeros(2000, np.float32))
            for step in range(4):
                reduce(gradient(comm.rank, step, 2000).astype(np.float32))
            self.assertLess(len(reduce.state()), 3000)
            same.restore(reduce.state())
            x, y = (gradient(comm.rank, 5, 2000).astype(np.float32) for _ in range(2))
            reduce(x), same(y)
            self.assertEqual(x.tobytes(), y.tobytes())

        Together(3).run(body)

    def test_a_two_shot_sum_sends_16_bits_a_number_to_and_from_who_adds_up(self):
        listeners = [laconic.Listener("127.0.0.1:0") for _ in range(4)]

        def body(member):
            comm = listeners[member.rank].connect(member.rank, [l.address for l in listeners], deadline=60)
            reduce = laconic.Reducer("plain(over=two_shot)", comm, np.zeros(1000, np.float32))
            sent = []
            for _ in range(2):
                x = gradient(comm.rank, 0, 1000).astype(np.float32)
                reduce(x)
                sent.append(reduce.statistics.bytes_sent)
            self.assertEqual(sent[1] - sent[0], 2 * 2 * 3 * 1000 // 4)
            np.testing.assert_allclose(x, np.mean([gradient(r, 0, 1000) for r in range(4)], axis=0), atol=0.03)
            bits = x.tobytes()
            self.assertEqual(set(member.allgather(bits)), {bits})
            # Over an all-gather alone, such as PyTorch's process groups: the same error on all ranks.
            other = laconic.Reducer("plain(over=two_shot)", member, np.zeros(1000, np.float32))
            with self.assertRaisesRegex(laconic.ArgumentError, 'not PointToPoint.*engine="tcp".*or gather'):
                other(x)
            self.assertEqual(x.tobytes(), bits)

        Together(4).run(body)

    def test_weights_probes_and_dense_steps(self):
        def body(comm):
            reduce = laconic.Reducer("error_feedback(top_k(k=1))", comm, np.zeros(8), steps_vary=True, probe_every=1)
            x = np.full(8, float(comm.rank))
            reduce(x, weight=1.0 + 2 * comm.rank, dense=True)
            self.assertTrue((x == 0.75).all())
            probe = reduce.statistics.last_probe
            self.assertEqual(probe.step, 1)
            self.assertAlmostEqual(probe.cosine, 1)
            with self.assertRaisesRegex(laconic.ArgumentError, "step size"):
                reduce(x, step_size=0.0)

        Together(2).run(body)

    def test_a_probe_warns_where_the_residual_grows_and_the_cosine_falls(self):
        def warned(first, then, steps, text="error_feedback(top_k(1))"):
            reduce = laconic.Reducer(text, None, np.zeros(100), probe_every=2)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for step in range(steps):
                    reduce((first if step < 2 else then).copy())
            return [str(w.message) for w in caught]

        one, many = np.eye(1, 100).ravel(), np.ones(100)
        told = warned(one, many, 20)
        self.assertEqual(len(told), 1)
        self.assertRegex(told[0], r"step 8: the estimate's cosine .* is 0\.10, and was 1\.00 at step 2; the residual is 5")
        self.assertEqual(warned(one, many, 6), [])  # two probes are not yet three in a row
        self.assertEqual(warned(one, many, 20, "unproved(plain(top_k(1)))"), [])  # there is no residual
        self.assertEqual(warned(many, many, 20), [])  # the residual grows, but the cosine does not fall


class SumTest(unittest.TestCase):
    def test_sums_and_means(self):
        def body(comm):
            comm = laconic.as_comm(comm)
            x = np.arange(4, dtype=np.float32) + comm.rank
            laconic.sum(x, comm)
            np.testing.assert_array_equal(x, [3, 6, 9, 12])
            x = np.asfortranarray(np.arange(7).reshape(7, 1) * 1.0) + comm.rank
            mine = laconic.reduce_scatter(x, comm)
            first, last = [(0, 2), (2, 4), (4, 7)][comm.rank]
            np.testing.assert_array_equal(mine, 3 * np.arange(first, last) + 3)
            self.assertTrue(np.shares_memory(mine, x))
            x[first:last] = np.arange(first, last)[:, None] + comm.rank
            np.testing.assert_array_equal(x.ravel(), np.arange(7) + comm.rank)  # the rest has stayed
            y = np.array([1.0, comm.rank])
            laconic.mean(y, comm)
            np.testing.assert_array_equal(y, [1, 1])
            with self.assertRaises(laconic.AgreementError):
                laconic.sum(np.zeros(2 + comm.rank), comm)

        Together(3).run(body)

    def test_encoded_arrays(self):
        x = np.linspace(-1, 2, 200)
        y = np.empty_like(x)
        encoded = laconic.encode("top_k(0.05)", x)
        self.assertLess(len(encoded), 120)
        laconic.decode("top_k(0.05)", encoded, y)
        np.testing.assert_array_equal(y, top(x, 10))
        y[:] = 7
        with self.assertRaises(laconic.WireError):
            laconic.decode("top_k(0.05)", encoded[:-1], y)
        self.assertTrue((y == 7).all())
        z = np.empty_like(x)
        laconic.decode("quantize(4)", laconic.encode("quantize(4)", x, 1, 2), y, 1, 2)
        laconic.decode("quantize(4)", laconic.encode("quantize(4)", x, 1, 3), z, 1, 3)
        self.assertTrue((y != z).any())

    def test_a_call_that_cannot_start_all_layers_is_an_error_on_all_ranks(self):
        def step(comm, reduce, bad):
            arrays = {"a": np.full(3, comm.rank, np.float32), "b": np.full(2, comm.rank, np.float32)}
            if bad:
                arrays[bad].flags.writeable = False
            reduce(arrays)
            return [x.tolist() for x in arrays.values()]

        def body(comm):
            layers = {"a": np.zeros(3, np.float32), "b": np.zeros(2, np.float32)}
            reduce = laconic.Reducer("plain(identity)", comm, layers)
            for who in ([1], [0, 1], [1]):  # on one rank, in the first step and later, and on all
                for bad in ("a", "b"):
                    error = laconic.CompressionError, "rank 1.*layer [ab]: a vector of 0 numbers"
                    if comm.rank in who:
                        error = laconic.ArgumentError, f"layer '{bad}' is read-only"
                    with self.assertRaisesRegex(*error):
                        step(comm, reduce, bad if comm.rank in who else None)
                    if len(who) > 1 or bad == "b":
                        self.assertEqual(step(comm, reduce, None), [[0.5] * 3, [0.5] * 2])

        Together(2).run(body)

    def test_an_array_of_another_type_is_an_error_on_all_ranks(self):
        def body(comm):
            reduce = laconic.Reducer("plain(identity)", comm, np.zeros(3, np.float32))
            kind, words = laconic.CompressionError, "rank 1"
            if comm.rank == 1:
                kind, words = laconic.ArgumentError, "is of float64: this reducer takes float32"
            with self.assertRaisesRegex(kind, words):
                reduce(np.zeros(3, np.float64 if comm.rank == 1 else np.float32))
            x = np.full(3, comm.rank, np.float32)
            reduce(x)
            self.assertEqual(x.tolist(), [0.5] * 3)

        Together(2).run(body)

    def test_decoding_goes_row_after_row_as_encoding_does(self):
        x = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
        y = np.empty_like(x)
        laconic.decode("identity", laconic.encode("identity", x), y)
        self.assertEqual(y.tolist(), x.tolist())

    def test_a_refused_call_has_taken_no_step(self):
        def body(comm):
            layers = {"e": np.zeros(0, np.float32), "a": np.zeros(3, np.float32)}
            reduce = laconic.Reducer("error_feedback(top_k(0.5))", comm, layers, steps_vary=True)
            for k in range(3):
                good = {"e": np.zeros(0, np.float32), "a": np.full(3, comm.rank, np.float32)}
                if k == 1:
                    good["e"] = [] if comm.rank else good["e"]  # no array, of the layer without numbers
                elif comm.rank:
                    good["typo"] = np.zeros(3, np.float32)
                # The other rank's step has options of its own, which the failing one has, too.
                error = (laconic.ArgumentError, "typo|must be a numpy array") if comm.rank else (laconic.Error, "rank 1")
                with self.assertRaisesRegex(*error):
                    reduce(good, step_size=0.1)
                self.assertEqual(reduce.steps, 0)
                self.assertEqual(good["a"].tolist(), [comm.rank] * 3)
                self.assertEqual(np.count_nonzero(reduce.residual("a")), 0)
            reduce({"e": np.zeros(0, np.float32), "a": np.ones(3, np.float32)})
            self.assertEqual(reduce.steps, 1)

        Together(2).run(body)

    def test_arrays_live_as_long_as_the_library_may_write_to_them(self):
        def given(reduce, call):
            x = np.ones(3, np.float32)
            call(x)
            return weakref.ref(x)

        reduce = laconic.Reducer("plain(identity)", None, np.zeros(3, np.float32))
        first = given(reduce, lambda x: reduce.start("", x))
        with self.assertRaises(laconic.Error):
            reduce.start("", np.zeros(4, np.float64))
        with self.assertRaises(laconic.Error):
            reduce.finish(loss_scale=2)
        self.assertIsNotNone(first())
        reduce.drop()

    def test_numbers_in_another_byte_order_are_refused(self):
        for kind in ("f2", "f4", "f8"):
            x = np.ones(3, np.dtype(kind).newbyteorder())
            for call in (
                lambda x=x: laconic.Reducer("plain(identity)", None, x),
                lambda x=x: laconic.Reducer("plain(identity)", None, np.ones(3, x.dtype.newbyteorder()))(x),
                lambda x=x: laconic.sum(x, None),
                lambda x=x: laconic.encode("identity", x),
                lambda x=x: laconic.decode("identity", b"", x),
            ):
                with self.assertRaisesRegex(laconic.ArgumentError, "another byte order: it must be of float32"):
                    call()
            self.assertTrue((x == 1).all())

    def test_texts_that_c_would_cut_short_are_refused(self):
        x = np.zeros(3, np.float32)
        for call in (
            lambda: laconic.Reducer("plain(identity)\0 and more", None, x),
            lambda: laconic.Reducer("plain(identity)", None, {"a\0b": x}),
            lambda: laconic.Reducer("plain(identity)", None, {7: x}),
            lambda: laconic.Reducer("plain(identity)", None, x, in_full=["\0"]),
            lambda: laconic.encode("identity\0", x),
            lambda: laconic.decode("identity\0", b"", x),
            lambda: laconic.names("compressors\0"),
            lambda: laconic.Tcp(0, 1, "127.0.0.1:0\0"),
            lambda: laconic.Listener("127.0.0.1:0\0"),
        ):
            with self.assertRaisesRegex(laconic.ArgumentError, "must be a text, without"):
                call()

    def test_names(self):
        self.assertTrue(any(name.startswith("error_feedback(") for name in laconic.names("reductions")))
        self.assertTrue(any(name.startswith("top_k(") for name in laconic.names("compressors")))


if __name__ == "__main__":
    unittest.main()
