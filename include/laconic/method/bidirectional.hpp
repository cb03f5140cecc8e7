// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"
#include "laconic/transport/gathered.hpp"
#include "laconic/transport/served.hpp"

namespace laconic {

/// A method whose server also answers in compressed messages: rank 0 receives all messages and sends its estimate of
/// the gradient through C, with a memory of its own (`rate` and `keep_errors`, as in memory). With ef_sgd and kept
/// errors it is DoubleSqueeze (Tang et al., ICML 2019), with diana and a rate it is similar to Artemis (Philippenko,
/// Dieuleveut, arXiv:2006.14591), with ef21 and a rate of 1 it is EF21-BC (Fatkhullin et al., arXiv:2110.03294), and
/// with ef21 and kept errors EF21-P with EF21 (Gruntkowska, Tyurin, Richtarik, ICML 2023), whose theorem gives the step
/// (proved_step::ef21_p). Else the step is the method's own unless given: its theorem does not cover the answer. With
/// unbiased compressors and neither memory,
///     beta = (1 + omega_down)(1 + omega_up / n),      step < 2 / (beta L),
///     mean_k E|grad f(x^k)|^2 <= (2 (f(x^0) - f*) / (step rounds) + a L step) / (2 - beta L step),
/// where a = (1 + omega_down) omega_up / n sup_x mean_i |grad f_i(x) - grad f(x)|^2 (Horvath et al., natural
/// compression, MSML 2022, for full gradients).
template <class M, class C>
struct bidirectional {
    static_assert(detail::require_compressor<C>());
    M method;
    C compressor;
    double rate = 0;
    bool keep_errors = false;

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return answered<T, B>(method.template compose<T, B>(with_answers(p)));
    }
    /// The recursion for f + R, where the method takes R's proximal operator.
    auto compose(problem const& p, auto const& prox) const requires requires(M const& m) { m.compose(p, prox); }
    { return answered<typename M::value_type, host>(method.compose(with_answers(p), prox)); }

    bool operator==(bidirectional const&) const = default;
    static constexpr void description(auto&& describe) {
        describe(
            "bidirectional", "any of these; the server answers in messages of C, with a memory and errors of its own",
            "Tang et al., ICML 2019; Philippenko, Dieuleveut, arXiv:2006.14591; EF21-BC: Fatkhullin et al., "
            "arXiv:2110.03294; EF21-P: Gruntkowska et al., ICML 2023",
            field("method", &bidirectional::method).needed(), field("compressor", &bidirectional::compressor).needed(),
            field("memory", &bidirectional::rate).between(0, 1).by_name(),
            field("keep_errors", &bidirectional::keep_errors));
    }

  private:
    problem with_answers(problem p) const {
        if constexpr (Contractive<C>)
            if (keep_errors && rate == 0 && p.dimension > 0 && is_contractive(compressor))
                p.answer_delta = compressor.delta(p.dimension);
        return p;
    }
    template <Scalar T, class B, class R>
    auto answered(R const& r) const {
        detail::check_fields(*this);
        if (!detail::is_gathered(r.over))
            throw argument_error({"bidirectional: the method has a transport of its own: ", to_string(r.over)});
        if (detail::corrects_local_steps(r.estimator))
            throw argument_error("bidirectional: a method that corrects its local steps needs the mean in full");
        return r.with_over(served<C, T, B>{compressor, {rate, keep_errors ? 1.0 : 0.0}});
    }
};
template <class M, class C>
bidirectional(M, C, double = 0, bool = false) -> bidirectional<M, C>;

}  // namespace laconic
