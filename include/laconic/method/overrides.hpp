// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "laconic/compress/compressor.hpp"
#include "laconic/objective/objective.hpp"

namespace laconic {

/// The size of a step: a number, or a number over the smoothness L of the problem, so that one text fits all data.
struct step_size {
    double value = 0;
    bool over_smoothness = false;

    constexpr step_size() = default;
    constexpr step_size(double v, bool over_L = false) : value(v), over_smoothness(over_L) {}  // NOLINT: .step = 0.1

    bool operator==(step_size const&) const = default;
    friend std::string to_string(step_size s) { return detail::shortest(s.value) + (s.over_smoothness ? "/L" : ""); }
};

/// The parameters of a method that its theorem gives and that you may give instead.
struct overrides {
    std::optional<step_size> step{};
    std::optional<double> memory{};  ///< the rate of difference compression, alpha or beta in the papers
    std::size_t batch = 0;           ///< the number of rows of each gradient; 0: all

    bool operator==(overrides const&) const = default;
};

namespace detail {

/// What a method makes of rounds in which some ranks send nothing: it has no form of them; its theorems then hold with
/// theory's delta, which is less; or its messages are multiplied by ranks / participants, and its theorems hold with
/// theory's omega, which is more.
enum class when_absent { refused, allowed, rescaled };
template <class M>
when_absent absence_of([[maybe_unused]] M const& method) {
    if constexpr (requires { method.absence(); }) return method.absence();
    return when_absent::refused;
}

template <class C>
consteval bool require_unbiased() {
    static_assert(require_members<C>());
    static_assert(
        Unbiased<C>,
        "this method needs an unbiased compressor, one with omega(d): rand_k, quantize, natural, or a pipe of "
        "them. A contractive one such as top_k goes with ef21 or ef_sgd.");
    return true;
}

// A type without check() is no compressor, which another error reports; a share that replaces a compressor has none.
template <class C>
concept HasCheck = requires(C const& compressor, std::size_t d) {
    compressor.check(d);
};

/// What a method asks of the problem, and of its user, to find its numbers. All errors begin with the method's name.
class theory {
  public:
    overrides given;
    problem const& p;

    /// Of a method with a description. Throws argument_error where a field is outside its range, and for a memory rate
    /// or a batch that is given and is none of its fields.
    template <Described M>
    theory(M const& method, problem const& its_problem)
        : theory(std::string(name_of_type<M>()), method.given, its_problem) {
        check_fields(method);
        bool has_memory = false, has_batch = false;
        auto copy = method;
        for_each_field(copy, [&](auto const&, auto const& field) {
            has_memory = has_memory || static_cast<void const*>(&field) == &copy.given.memory;
            has_batch = has_batch || static_cast<void const*>(&field) == &copy.given.batch;
        });
        if (!has_memory) refuse_memory();
        if (!has_batch && given.batch > 0)
            throw argument_error(text(
                {"its gradients are of all rows, or of its own choice; batch = ", given.batch, " cannot be given"}));
    }
    theory(std::string name, overrides const& numbers, problem const& its_problem)
        : given(numbers), p(its_problem), name_(std::move(name)) {}

    /// The same where a batch has at least one row.
    theory with_rows() const {
        auto other = given;
        other.batch = std::max<std::size_t>(given.batch, 1);
        return {name_, other, p};
    }

    /// Constants of the problem. Throw theory_error where they are not known.
    double smoothness() const { return known(p.smoothness, "the smoothness L"); }
    double largest_smoothness() const { return known(p.largest_smoothness, "max L_i"); }
    double mean_square_smoothness() const { return known(p.mean_square_smoothness, "the mean square of the L_i"); }
    double strong_convexity() const { return known(p.strong_convexity, "mu, the strong convexity of f"); }
    double sample_smoothness() const {
        return known(p.largest_sample_smoothness, "max L_ij, the largest smoothness of a sample");
    }
    double known(double constant, char const* name, char const* what = "its theorem",
                 char const* advice =
                     "give the objective smoothness() and strong_convexity(), or descend() a problem "
                     "with its constants, or the method a step of your own: {.step = ...}") const {
        if (constant > 0 && std::isfinite(constant)) return constant;
        throw lacks({what, " needs ", name, ", which is not known; ", advice});
    }
    /// max L_ij over the number of rows that are drawn in a round of n workers; 0 where all rows are taken.
    double noise_of_batch() const {
        if (given.batch == 0) return 0;
        return sample_smoothness() / (static_cast<double>(p.workers) * static_cast<double>(given.batch));
    }

    /// The omega or delta of a compressor. Throw theory_error with the advice where there is none, argument_error where
    /// the compressor's own parameters do not suit the dimension. (Where that is not known the loop checks them.) Where
    /// some ranks send nothing, they are those of C or nothing, the latter for the mean of the ranks' rescaled
    /// messages.
    template <class C>
    double omega(C const& compressor, char const* advice) const {
        return number_of(compressor, advice, [&]() -> double {
            if constexpr (Unbiased<C>) return of_participants(compressor.omega(p.dimension));
            throw theory_error({to_string(compressor), " is biased: it has no omega"});
        });
    }
    template <class C>
    double delta(C const& compressor, char const* advice) const {
        return number_of(compressor, advice, [&] {
            double delta = 0;
            if constexpr (Contractive<C>) delta = compressor.delta(p.dimension);
            if (delta > 0) return delta * share();
            throw theory_error({to_string(compressor), " is not known to be contractive: it has no delta above 0"});
        });
    }

    /// The user's step, or the theorem's, which is computed only where it is needed.
    double step(auto theorem) const {
        double const size = !given.step                   ? theorem()
                            : given.step->over_smoothness ? given.step->value / smoothness()
                                                          : given.step->value;
        if (!(size > 0 && std::isfinite(size))) throw argument_error(text({"the step ", size, " is not above 0"}));
        return size;
    }
    /// The step of a method for which no theorem gives one.
    double own_step(char const* why) const {
        return step([&]() -> double { throw lacks({why, "; give the step yourself"}); });
    }
    /// The user's memory rate within (0, largest], or the default. Throws argument_error for another.
    double memory(double by_default, double largest) const {
        double const rate = given.memory.value_or(by_default);
        if (!(rate > 0 && rate <= largest * (1 + 1e-12)))
            throw argument_error(text({"the memory rate ", rate, " is outside (0, ", largest, "]"}));
        return rate;
    }
    /// Throws theory_error for a batch, where a theorem is about the gradients of all rows.
    void refuse_batch() const {
        if (given.batch > 0)
            throw lacks({"its theorem is about the gradients of all rows; with batch = ", given.batch,
                         " give the step yourself"});
    }
    /// Throws argument_error for a memory rate, where the user cannot choose it.
    void refuse_memory() const {
        if (given.memory)
            throw argument_error(text({"its memory rate is fixed; memory = ", *given.memory, " cannot be given"}));
    }
    theory_error lacks(text_pieces why) const { return theory_error(text(why)); }
    std::string text(text_pieces what) const { return name_ + ": " + concat(what); }

  private:
    // m / n, and omega' for that omega, if m of n ranks send.
    double share() const { return p.participants > 0 ? p.participants / double(p.workers) : 1; }
    double of_participants(double omega) const {
        return share() < 1 ? (omega + (p.workers - p.participants) / (p.workers - 1.0)) / share() : omega;
    }
    template <class C, class Number>
    double number_of(C const& compressor, char const* advice, Number number) const try {
        if constexpr (HasCheck<C>)
            if (p.dimension > 0) check_by_name(compressor, p.dimension);
        return number();
    } catch (theory_error const& e) {
        throw lacks({e.what(), "; ", advice});
    } catch (argument_error const& e) {
        throw argument_error(text({e.what()}));
    }

    std::string name_;
};

/// A part of `given` as a field of a method's description; `shown(part)` refers to what its text has.
inline constexpr auto as_it_is = [](auto const& part) -> auto& { return part; };
template <class Shown = decltype(as_it_is)>
constexpr auto given_field(std::string_view name, auto part, Shown shown = {}) {
    return field(
        name, [=](auto& m) -> auto& {
            if constexpr (std::is_const_v<std::remove_reference_t<decltype(m)>>)
                return shown(m.given.*part);
            else
                return m.given.*part;
        });
}
inline constexpr auto step_field = given_field("step", &overrides::step).by_name();
inline constexpr auto memory_field = given_field("memory", &overrides::memory).by_name();
inline constexpr auto batch_field = given_field("batch", &overrides::batch).between(0, 1e9).by_name();
// Of a method that draws at least one row.
inline constexpr std::size_t one_row = 1;
inline constexpr auto at_least_one_row = [](std::size_t const& batch) -> auto& { return std::max(batch, one_row); };
inline constexpr auto rows_field = given_field("batch", &overrides::batch, at_least_one_row).between(1, 1e9).by_name();

// Members that several methods have.
inline constexpr auto its_compressor = [](auto& m) -> auto& { return m.compressor; };
inline constexpr auto compressor_field = field("compressor", its_compressor).needed();
inline constexpr auto its_xi = [](auto& m) -> auto& { return m.xi; };
inline constexpr auto xi_field = field("xi", its_xi).between(0, 1e300).written().by_name();

}  // namespace detail
}  // namespace laconic
