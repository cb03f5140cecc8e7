# SPDX-License-Identifier: Apache-2.0
"""laconic.LocalRounds and laconic.torch.LocalRounds. Ranks are threads, on bowls of their own:
f_i(x) = 1/2 sum_j a_ij (x_j - b_ij)^2. The answers are x_0, x_last and |x|^2 after so many rounds, as a program of
numpy alone computes them in double."""

import copy
import io
import pickle
import sys
import unittest

from test_reducer import Together, laconic, np

try:
    import torch

    import laconic.torch

    torch.set_num_threads(1)
except ImportError:
    torch = None

ranks, d = 4, 8
i, j = np.arange(ranks)[:, None], np.arange(d)[None, :]
a = (2 + (i + 2 * j) % 5) / 4
b = (((3 * i + 5 * j + i * j) % 11) - 5) / 2 + (i + 1) * (j + 1) / 64

local_sgd = {1: (0.727051263809, 0.466731830139, 4.34428192296), 10: (0.253281004357, -0.396053851128, 2.33683175127),
             50: (0.244763429472, -0.408120572797, 2.34016372202)}  # fmt: skip
fed_avg = {1: (0.945415144958, 0.768430414917, 4.29809218293), 10: (0.865931958251, 0.366669012496, 2.03413725499),
           50: (0.865180608377, 0.359457723532, 2.01536810988)}  # fmt: skip
fed_prox = {1: (0.753003295059, 0.516946063538, 4.61019380131), 10: (0.259656746999, -0.387112027603, 2.33677143242),
            50: (0.245334388042, -0.40820477409, 2.34179959845)}  # fmt: skip
slow_mo = {1: (0.727051263809, 0.466731830139, 4.34428192296), 10: (0.369044537254, -0.189440610547, 2.40390858578),
           50: (0.244832401757, -0.408143234795, 2.34007843763)}  # fmt: skip
diloco = {1: (0.636978180866, 0.290753334085, 3.54355488173), 10: (0.338952998464, -0.229567995652, 2.39281375073),
          50: (0.244764938586, -0.408152317491, 2.34018026552)}  # fmt: skip
fed_adam = {1: (0.903534209106, 0.901840711559, 6.88920098668), 10: (-0.151008693716, -0.563380215606, 2.85764367439),
            50: (0.274817619805, -0.502240633147, 2.44460431657)}  # fmt: skip
diloco_adamw = {1: (0.803769873703, 0.802657568805, 5.74760639267),
                10: (-0.565467176992, -2.10049512552, 6.12150725624),
                50: (-0.060077275896, -1.60288966573, 2.82502633052)}  # fmt: skip
weighted_adamw = {10: (0.672122993045, -0.747676808599, 3.17837490506)}
# Streaming DiLoCo, two parts, each every 6 steps, by steps: delay 1 and keep 0.5, x and rank 0's model; then 0 and 0.
streamed = {12: (0.464812474539, -0.312868735131, 2.4195453358), 60: (0.129058075079, -0.410523122331, 2.064481212)}
own = {12: (-0.224537970748, -0.602418808491, 6.58653821533), 60: (-0.718953055624, -0.781013151993, 7.27223024168)}
in_turns = {12: (0.374946758944, -0.50067625302, 2.39551522349), 60: (0.315860184012, -0.253109919558, 2.32005867663)}
# DES-LOC averages x, m and v before every 2nd, 6th and 12th step of Adam: the mean of the models, by steps.
des_loc = {2: (0.976539533358, 0.976533256597, 7.72176722352), 24: (0.612378401509, 0.529435723869, 3.69743488422)}

nesterov = {"rate": 0.7, "beta": 0.9, "nesterov": True}


def gradient(rank, y, part=slice(None)):
    return a[rank, part] * (y - b[rank, part])


def fed_adam_step():
    """Adam without a correction of its bias."""
    m, v = np.zeros(d), np.zeros(d)

    def step(x, change):
        g = change[""]
        m[:] = 0.9 * m + 0.1 * g
        v[:] = 0.99 * v + 0.01 * g * g
        x[""] -= 0.1 * m / (np.sqrt(v) + 1e-3)

    return step


def is_known(x, known, places=11):
    x = np.asarray(x, np.float64)
    np.testing.assert_allclose((x[0], x[-1], x @ x), known, rtol=0, atol=10.0**-places)


class RoundsTest(unittest.TestCase):
    def comes_to(self, known, outer=None, prox=0.0, weighted=False, dtype=np.float64):
        def body(comm):
            y = np.full(d, 1 + comm.rank, dtype)
            rounds = laconic.LocalRounds("plain", comm, y, every=5, outer=outer and outer(), steps_vary=weighted)
            for step in range(1, 5 * max(known) + 1):
                y -= (0.1 * (gradient(comm.rank, y) + prox * (y - rounds.x))).astype(dtype)
                ended = rounds.step(y, **({"weight": comm.rank + 1} if weighted else {}))
                self.assertEqual(ended, step % 5 == 0)
                if ended:
                    np.testing.assert_array_equal(y, rounds.x)
                if step % 5 == 0 and step // 5 in known:
                    self.assertEqual(rounds.reducer.steps, step // 5)
                    is_known(y, known[step // 5], 11 if dtype == np.float64 else 5)

        Together(ranks).run(body)

    def test_known_answers(self):
        for dtype in (np.float64, np.float32):
            self.comes_to(local_sgd, dtype=dtype)
            self.comes_to(fed_avg, weighted=True, dtype=dtype)
            self.comes_to(fed_prox, prox=0.5, dtype=dtype)
            self.comes_to(slow_mo, lambda: laconic.Momentum(1, 0.7), dtype=dtype)
            self.comes_to(diloco, lambda: laconic.Momentum(**nesterov), dtype=dtype)
        self.comes_to(fed_adam, fed_adam_step)

    def test_des_loc_averages_adams_state_by_a_reducer(self):
        def body(comm):
            y, m, v = np.ones(d), np.zeros(d), np.zeros(d)
            rounds, mean = laconic.LocalRounds("plain", comm, y, every=2), laconic.Reducer("plain", comm, y)
            for step in range(1, max(des_loc) + 1):
                g = gradient(comm.rank, y)
                for state, every in ((m, 6), (v, 12)):
                    if step % every == 0:
                        mean(state)
                rounds.step(y)
                m[:] = 0.9 * m + 0.1 * g
                v[:] = 0.99 * v + 0.01 * g * g
                y -= 0.02 * m / (np.sqrt(v) + 1e-8)
                if step in des_loc:
                    of_all = y.copy()
                    laconic.mean(of_all, comm)
                    is_known(of_all, des_loc[step])

        Together(ranks).run(body)

    def test_streaming_comes_to_known_answers(self):
        for delay, keep, known, of_rank_0 in ((1, 0.5, streamed, own), (0, 0.0, in_turns, {})):

            def body(comm, delay=delay, keep=keep, known=known, of_rank_0=of_rank_0):
                y = np.ones(d)
                parts = [{"p": y[:4]}, {"p": y[4:]}]
                rounds = [
                    laconic.LocalRounds("plain", comm, part, every=6, first=first, delay=delay, keep=keep,
                                        outer=laconic.Momentum(**nesterov))
                    for part, first in zip(parts, (3, 6))
                ]  # fmt: skip
                for step in range(1, 61):
                    y -= 0.1 * gradient(comm.rank, y)
                    for part, of in zip(parts, rounds):
                        of.step(part)
                    if step in known:
                        is_known(np.concatenate([of.x["p"] for of in rounds]), known[step])
                        if comm.rank == 0 and step in of_rank_0:
                            is_known(y, of_rank_0[step])

            Together(ranks).run(body)

    def test_all_ranks_begin_with_rank_0s_model_and_agree_after_each_round(self):
        def body(comm):
            w = np.arange(12, dtype=np.float32).reshape(3, 4) * (1 - comm.rank)
            model = {"w": np.asfortranarray(w) if comm.rank else w, "b": np.full(5, comm.rank, np.float16),
                     "s": np.array(comm.rank, np.float32)}  # fmt: skip
            text = "error_feedback(top_k(0.2) | quantize(7, bucket=128))"
            rounds = laconic.LocalRounds(text, comm, model, every=2, in_full=["b"])
            np.testing.assert_array_equal(model["w"], np.arange(12).reshape(3, 4))
            self.assertFalse(model["b"].any() or model["s"].any())
            for step in range(8):
                for y in model.values():
                    y += (np.random.default_rng([comm.rank, step]).normal(size=y.shape) / 8).astype(y.dtype)
                rounds.step(model)
            self.assertLess(rounds.reducer.statistics.bytes_sent, rounds.reducer.statistics.bytes_in_full)
            self.assertEqual(rounds.x["b"].dtype, np.float32)
            np.testing.assert_array_equal(model["b"], rounds.x["b"].astype(np.float16))
            return np.concatenate([y.ravel() for y in model.values()])

        all_of_them = Together(3).run(body)
        self.assertGreater(np.count_nonzero(all_of_them[0]), 10)
        for other in all_of_them[1:]:
            np.testing.assert_array_equal(other, all_of_them[0])

    def test_moves_below_the_numbers_of_a_16_bit_model_add_up(self):
        y = np.ones(3, np.float16)
        rounds = laconic.LocalRounds("plain", None, y, every=1, outer=laconic.Momentum(0.25))
        for _ in range(8):
            y -= np.float16(2.0**-11)  # the next number below 1
            rounds.step(y)
        np.testing.assert_array_equal(rounds.x, np.float32(1 - 2 * 2.0**-11))
        np.testing.assert_array_equal(y, rounds.x)

    def test_a_round_that_fails_changes_nothing_on_any_rank(self):
        def body(comm):
            y = np.ones(d, np.float32)
            rounds = laconic.LocalRounds("error_feedback(top_k(0.5))", comm, y, every=2, delay=1, steps_vary=True)

            def two_steps(weight=1.0):
                y[:] -= 0.1 * (1 + comm.rank)
                self.assertFalse(rounds.step(y, weight))
                self.assertTrue(rounds.step(y))

            two_steps()
            x, residual, kept = rounds.x.copy(), rounds.reducer.residual(), y.copy()
            refused = [(np.ones(3, np.float32), r"\(3,\): it was \(8,\)"),
                       ({"a": y}, "of a: this"), (y.tolist(), "numpy array"),
                       (np.broadcast_to(y[:1], d), "changed in place")]  # fmt: skip
            for model, why in refused:
                if comm.rank == 1:
                    with self.assertRaisesRegex(laconic.Error, why):
                        rounds.step(model)
                    self.assertFalse(rounds.step(y))  # in which the other rank's round fails
                else:
                    rounds.step(y)
                    with self.assertRaises(laconic.CompressionError):
                        rounds.step(y)
            for error, why in ((laconic.CompressionError, "weight of -1"), (laconic.NonFiniteError, "")):
                weight = 1.0
                if comm.rank == 1 and why:
                    weight = -3.0  # and 1 in the step before
                elif comm.rank == 1:
                    y[3] = np.nan
                self.assertFalse(rounds.step(y, weight))
                with self.assertRaisesRegex(error, why):
                    rounds.step(y)
                np.testing.assert_array_equal(rounds.x, x)
                np.testing.assert_array_equal(rounds.reducer.residual(), residual)
            self.assertEqual(rounds.reducer.steps, 1)
            with rounds.agreed(y):
                np.testing.assert_array_equal(y, x)
            self.assertEqual(np.isnan(y).sum(), comm.rank == 1)
            rounds.reset(y)
            np.testing.assert_array_equal(y, kept)
            two_steps()
            self.assertEqual(rounds.reducer.steps, 2)
            return y

        first, second = Together(2).run(body)
        np.testing.assert_array_equal(first, second)

    def test_refused_arguments(self):
        y = np.ones(3, np.float32)
        for how, why in (({"keep": 1.0}, r"in \[0, 1\)"), ({"every": 3, "delay": 3}, "below every = 3"),
                         ({"first": 0}, "first = 0"), ({"non_finite": "propagate"}, "non_finite")):  # fmt: skip
            with self.assertRaisesRegex(laconic.ArgumentError, why):
                laconic.LocalRounds("plain", None, y, **how)
        for model in ([1.0], np.ones(3, np.int16), {"w": np.broadcast_to(y, (2, 3))}):
            with self.assertRaises(laconic.ArgumentError):
                laconic.LocalRounds("plain", None, model)
        for arguments in ((0,), (1, 1)):
            with self.assertRaises(laconic.ArgumentError):
                laconic.Momentum(*arguments)

        def body(comm):
            with self.assertRaisesRegex(laconic.AgreementError, "rank 1 .* of every=31.*, and rank 0 of every=30"):
                laconic.LocalRounds("plain", comm, y.copy(), every=30 + comm.rank)

        Together(2).run(body)

    def test_states_of_all_ranks_keep_each_rank_s_weight_of_the_round_that_has_begun(self):
        def body(comm):
            y = np.zeros(2)
            make = lambda delay=0: laconic.LocalRounds("plain", comm, y, every=2, steps_vary=True, delay=delay)
            rounds = make()
            rounds.step(y, weight=1 + 2 * comm.rank)
            states = [pickle.loads(s) for s in comm.allgather(pickle.dumps(rounds.state()))]
            later = make()
            later.restore(states)
            y += comm.rank
            later.step(y, weight=1 + 2 * comm.rank)
            self.assertEqual(y[0], 0.75)  # of 0 and 1, with weights 1 and 3
            with self.assertRaisesRegex(laconic.ArgumentError, "1 local steps are left"):
                make(delay=1).restore(states)

        Together(2).run(body)

    def test_a_state_goes_on_bit_for_bit(self):
        def make(comm, y):
            text = "error_feedback(scaled_down(rand_k(0.5)))"
            outer = laconic.Momentum(**nesterov)
            return laconic.LocalRounds(text, comm, y, every=3, seed=1, steps_vary=True, outer=outer)

        def train(comm, y, rounds, steps):
            for step in steps:
                y -= 0.1 * gradient(comm.rank, y)
                rounds.step(y, weight=1 + step + comm.rank)
            return y

        def straight(comm):
            y = np.ones(d)
            return train(comm, y, make(comm, y), range(20))

        def interrupted(comm):
            y = np.ones(d)
            rounds = make(comm, y)
            train(comm, y, rounds, range(10))
            with self.assertRaisesRegex(laconic.ShapeError, "8"):
                make(comm, np.zeros(d + 1)).restore(rounds.state())
            middle, state = y.copy(), rounds.state()
            train(comm, y, rounds, range(10, 14))  # which leaves the saved state alone
            state = pickle.loads(pickle.dumps(state))
            again = make(comm, middle.copy())
            again.restore(state)
            return train(comm, middle, again, range(10, 20)), state

        expected = Together(ranks).run(straight)
        found = Together(ranks).run(interrupted)
        for x, (y, _) in zip(expected, found):
            np.testing.assert_array_equal(y, x)
        states = [state for _, state in found]

        def on_two(comm):
            y = np.zeros(d)
            rounds = make(comm, y)
            rounds.restore(states)
            rounds.reset(y)
            np.testing.assert_array_equal(y, states[0]["x"][""])
            self.assertEqual(rounds.reducer.steps, 3)
            return train(comm, y, rounds, range(10, 12)).copy()

        first, second = Together(2).run(on_two)
        np.testing.assert_array_equal(first, second)

    def test_the_ranks_that_are_left_go_on_from_the_new_rank_0(self):
        def make(comm, y):
            return laconic.LocalRounds("plain", comm, y, every=2, outer=laconic.Momentum(**nesterov))

        made = [None] * 3

        def begin(comm):
            y = np.ones(d)
            rounds = made[comm.rank] = make(comm, y)
            for _ in range(5):  # two rounds, and half of one
                y -= 0.1 * gradient(comm.rank, y)
                rounds.step(y)

        def go_on(comm):
            rounds, y = made[1 + comm.rank], np.zeros(d)
            if comm.rank == 1:  # as if it had not completed the last round
                rounds.x[:] = 7
                rounds._outer._u[""][:] = 5
            rounds.rebind(comm)
            rounds.reset(y)
            state = rounds.state()
            ends = []
            for _ in range(4):
                y -= 0.1 * gradient(comm.rank, y)
                ends.append(rounds.step(y))
            return state, ends, y

        Together(3).run(begin)
        found = Together(2).run(go_on)
        states = [state for state, _, _ in found]
        for state, ends, y in found:
            self.assertEqual(ends, [False, True, False, True])
            np.testing.assert_array_equal(state["x"][""], states[0]["x"][""])
            np.testing.assert_array_equal(state["outer"][""], states[0]["outer"][""])
            np.testing.assert_array_equal(y, found[0][2])
        self.assertTrue((states[0]["x"][""] != 7).all() and (states[0]["outer"][""] != 5).all())

        def again(comm):
            rounds, y = make(comm, np.zeros(d)), np.zeros(d)
            rounds.restore(states)
            rounds.reset(y)
            for _ in range(4):
                y -= 0.1 * gradient(comm.rank, y)
                rounds.step(y)
            return y

        np.testing.assert_array_equal(Together(2).run(again)[0], found[0][2])

    def test_an_outer_step_that_only_one_rank_has_taken_is_an_error_on_all(self):
        made, raised = [None] * 2, []

        def begin(comm):
            rounds = made[comm.rank] = laconic.LocalRounds(
                "plain", comm, np.ones(3), every=1, outer=laconic.Momentum(**nesterov))  # fmt: skip
            if comm.rank == 1:
                rounds._outer._u[""] = np.ones(3)

        def go_on(comm):
            made[comm.rank].x[:] = comm.rank
            with self.assertRaisesRegex(laconic.AgreementError, "its outer step remembers"):
                made[comm.rank].rebind(comm)
            raised.append(comm.rank)

        Together(2).run(begin)
        Together(2).run(go_on)
        self.assertEqual(len(raised), 2)
        for rank, rounds in enumerate(made):
            self.assertTrue((rounds.x == rank).all())

    def test_ranks_that_were_made_apart_must_have_rounds_alike(self):
        made, raised = [None] * 2, []

        def alone(rank):
            def body(comm):
                made[rank] = laconic.LocalRounds("plain", comm, np.ones(3), every=1 + rank)

            return body

        def go_on(comm):
            with self.assertRaisesRegex(laconic.AgreementError, "every="):
                made[comm.rank].rebind(comm)
            raised.append(comm.rank)

        for rank in range(2):
            Together(1).run(alone(rank))
        Together(2).run(go_on)
        self.assertEqual(len(raised), 2)

    def test_numbers_of_numpy_in_the_outer_state_are_compared(self):
        class Counting(laconic.Momentum):
            taken = np.float64(0)

            def state(self):
                return {"u": super().state(), "taken": self.taken}

            def restore(self, state):
                super().restore(state["u"])
                self.taken = state["taken"]

        made = [None] * 2

        def begin(comm):
            made[comm.rank] = laconic.LocalRounds("plain", comm, np.ones(3), every=1, outer=Counting(**nesterov))

        def go_on(comm):
            made[comm.rank].rebind(comm)

        Together(2).run(begin)
        Together(2).run(go_on)


@unittest.skipUnless(torch, "there is no torch")
class TorchRoundsTest(unittest.TestCase):
    def comes_to(self, known, inner, outer, weighted=False, dtype=None):
        def body(comm):
            y = torch.full([d], 1.0 + comm.rank, dtype=dtype or torch.float64, requires_grad=True)
            local, mine = inner([y]), comm.rank
            curve, centre = (torch.from_numpy(of[mine]).to(y.dtype) for of in (a, b))
            rounds = laconic.torch.LocalRounds([y], "plain", comm, every=5, outer=outer, steps_vary=weighted)
            for step in range(1, 5 * max(known) + 1):
                local.zero_grad()
                (curve * (y - centre) ** 2 / 2).sum().backward()
                local.step()
                ended = rounds.step(mine + 1 if weighted else 1)
                self.assertEqual(ended, step % 5 == 0)
                if step % 5 == 0 and step // 5 in known:
                    is_known(y.detach().numpy(), known[step // 5], 11 if dtype is None else 5)

        Together(ranks).run(body)

    def test_known_answers(self):
        def sgd(p):
            return torch.optim.SGD(p, lr=0.1)

        def adamw(p):
            return torch.optim.AdamW(p, lr=0.05, betas=(0.9, 0.95), weight_decay=0.1)

        def outer(p):
            return torch.optim.SGD(p, lr=0.7, momentum=0.9, nesterov=True)

        for dtype in (None, torch.float32):
            self.comes_to(local_sgd, sgd, None, dtype=dtype)
            self.comes_to(fed_avg, sgd, None, weighted=True, dtype=dtype)
            self.comes_to(slow_mo, sgd, lambda p: torch.optim.SGD(p, lr=1, momentum=0.7), dtype=dtype)
            self.comes_to(diloco, sgd, outer, dtype=dtype)
            self.comes_to(diloco_adamw, adamw, outer, dtype=dtype)
            self.comes_to(weighted_adamw, adamw, outer, weighted=True, dtype=dtype)

    def test_streaming_comes_to_known_answers(self):
        def body(comm):
            parts = [torch.ones(4, dtype=torch.float64, requires_grad=True) for _ in range(2)]
            inner = torch.optim.SGD(parts, lr=0.1)
            rounds = [
                laconic.torch.LocalRounds([p], "plain", comm, every=6, first=first, delay=1, keep=0.5,
                                          outer=lambda p: torch.optim.SGD(p, lr=0.7, momentum=0.9, nesterov=True))
                for p, first in zip(parts, (3, 6))
            ]  # fmt: skip
            for step in range(1, 61):
                for at, p in zip((slice(0, 4), slice(4, 8)), parts):
                    p.grad = torch.from_numpy(gradient(comm.rank, p.detach().numpy(), at))
                inner.step()
                for of in rounds:
                    of.step()
                if step in streamed:
                    is_known(np.concatenate([of.x["0"].numpy() for of in rounds]), streamed[step])
                    if comm.rank == 0:
                        is_known(torch.cat(parts).detach().numpy(), own[step])

        Together(ranks).run(body)

    def model(self, seed, dtype=torch and torch.float32):
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)).to(dtype)

    def train(self, model, inner, rounds, steps, rank):
        for step in steps:
            x = torch.from_numpy(np.random.default_rng([rank, step]).normal(size=(8, 6))).to(model[0].weight.dtype)
            inner.zero_grad()
            (model(x) - x[:, :2]).square().mean().backward()
            inner.step()
            rounds.step()

    def test_all_ranks_begin_with_rank_0s_model_and_agree_after_each_round(self):
        first = self.model(0)
        for dtype in (torch.float32, torch.bfloat16):
            models = [self.model(rank, dtype) for rank in range(3)]

            def body(comm, models=models):
                model = models[comm.rank]
                model[2].bias.requires_grad_(False)
                inner = torch.optim.SGD(model.parameters(), lr=0.1)
                named = model.named_parameters()
                text = "error_feedback(top_k(0.2))"
                rounds = laconic.torch.LocalRounds(named, text, comm, every=2, in_full=["*.bias"])
                self.assertEqual(list(rounds.x), ["0.weight", "0.bias", "2.weight"])
                for name, x in rounds.x.items():
                    self.assertEqual(x.dtype, torch.float32)
                    rank_0s = dict(first.named_parameters())[name].to(model[0].bias.dtype).float()
                    self.assertTrue(torch.equal(x, rank_0s))
                self.train(model, inner, rounds, range(7), comm.rank)
                before = [p.detach().clone() for p in model.parameters()]
                with rounds.agreed():
                    for name, p in list(model.named_parameters())[:3]:
                        self.assertTrue(torch.equal(p, rounds.x[name].to(p.dtype)))
                        self.assertFalse(torch.equal(p, before[0]))
                self.assertTrue(all(torch.equal(p, y) for p, y in zip(model.parameters(), before)))
                self.train(model, inner, rounds, range(7, 8), comm.rank)

            Together(3).run(body)
            for p, *others in list(zip(*(model.parameters() for model in models)))[:3]:
                self.assertTrue(all(torch.equal(p, other) for other in others))
            self.assertFalse(torch.equal(models[0][2].bias, models[1][2].bias))  # needs no gradient

    def test_a_round_that_fails_changes_nothing_on_any_rank(self):
        models = [self.model(rank) for rank in range(2)]

        def body(comm):
            model = models[comm.rank]
            inner = torch.optim.SGD(model.parameters(), lr=0.1)
            rounds = laconic.torch.LocalRounds(model.parameters(), "plain", comm, every=2, outer=torch.optim.Adam)
            self.train(model, inner, rounds, range(3), comm.rank)
            state = rounds.state_dict()
            if comm.rank == 1:
                with torch.no_grad():
                    model[0].weight[1, 1] = float("nan")
            before = [p.detach().clone() for p in model.parameters()]
            with self.assertRaises(laconic.NonFiniteError):
                rounds.step()
            for p, y in zip(model.parameters(), before):
                np.testing.assert_array_equal(p.detach().numpy(), y.numpy())
            for name, x in rounds.x.items():
                self.assertTrue(torch.equal(x, state["x"][name]))
            self.assertEqual(str(rounds.outer.state_dict()), str(state["outer"]))
            rounds.reset()
            self.train(model, inner, rounds, range(4, 6), comm.rank)
            self.assertEqual(rounds.reducer.steps, 2)

        Together(2).run(body)
        self.assertTrue(all(torch.equal(p, q) for p, q in zip(*(model.parameters() for model in models))))
        for how, why in (({"device": "meta"}, "parameter 0 on meta"), ({"dtype": torch.cfloat}, "complex64")):
            with self.assertRaisesRegex(laconic.ArgumentError, why):
                refused = torch.ones(3, requires_grad=True, **how)
                laconic.torch.LocalRounds([refused], "plain", laconic.as_comm(None))

    def test_the_ranks_that_are_left_go_on_from_the_new_rank_0(self):
        models, made = [self.model(rank) for rank in range(3)], [None] * 3

        def begin(comm):
            model = models[comm.rank]
            inner = torch.optim.AdamW(model.parameters(), lr=0.05)
            rounds = laconic.torch.LocalRounds(
                model.parameters(), "plain", comm, every=2,
                outer=lambda x: torch.optim.SGD(x, lr=0.7, momentum=0.9, nesterov=True))  # fmt: skip
            made[comm.rank] = inner, rounds
            self.train(model, inner, rounds, range(5), comm.rank)

        def go_on(comm):
            model, (inner, rounds) = models[1 + comm.rank], made[1 + comm.rank]
            if comm.rank == 1:
                for x in rounds._x.values():
                    x += 1
                    rounds.outer.state[x]["momentum_buffer"] += 1
            rounds.rebind(comm)
            rounds.reset()
            self.train(model, inner, rounds, range(5, 9), comm.rank)

        Together(3).run(begin)
        Together(2).run(go_on)
        for p, q in zip(models[1].parameters(), models[2].parameters()):
            self.assertTrue(torch.equal(p, q))

    def test_a_state_goes_on_bit_for_bit(self):
        def make(comm, model):
            inner = torch.optim.AdamW(model.parameters(), lr=0.05)
            return inner, laconic.torch.LocalRounds(
                model.parameters(), "error_feedback(scaled_down(rand_k(0.5)))", comm, every=3, seed=1,
                outer=lambda x: torch.optim.SGD(x, lr=0.7, momentum=0.9, nesterov=True))  # fmt: skip

        straight, interrupted, again = ([self.model(0) for _ in range(2)] for _ in range(3))

        def body(comm):
            self.train(straight[comm.rank], *make(comm, straight[comm.rank]), range(12), comm.rank)
            model = interrupted[comm.rank]
            inner, rounds = make(comm, model)
            self.train(model, inner, rounds, range(7), comm.rank)
            file = io.BytesIO()
            middle, state = copy.deepcopy((model.state_dict(), inner.state_dict())), rounds.state_dict()
            self.train(model, inner, rounds, range(7, 9), comm.rank)  # which leaves the saved state alone
            torch.save({"model": middle[0], "inner": middle[1], "rounds": state}, file)
            file.seek(0)
            saved = torch.load(file)
            model = again[comm.rank]
            inner, rounds = make(comm, model)
            model.load_state_dict(saved["model"])
            inner.load_state_dict(saved["inner"])
            rounds.load_state_dict(saved["rounds"])
            self.train(model, inner, rounds, range(7, 12), comm.rank)

        Together(2).run(body)
        for one, other in zip(straight, again):
            self.assertTrue(all(torch.equal(p, q) for p, q in zip(one.parameters(), other.parameters())))


if __name__ == "__main__":
    unittest.main()
