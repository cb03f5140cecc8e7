// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "laconic/any/holder.hpp"
#include "laconic/any/message.hpp"
#include "laconic/compress/compress_sum.hpp"
#include "laconic/compress/identity.hpp"

/// Compressors that are chosen at run time: the same values behind one type. They cost a virtual call a message; the
/// bytes are those of the compressor inside.
namespace laconic {

namespace detail {

template <class T, class B>
struct compressor_face : face {
    virtual void check(std::size_t d) const = 0;
    virtual void blank(B& on, std::size_t d, key from, any_message<T, B>& m) const = 0;
    virtual void operator()(B& on, std::span<T const> x, key from, any_message<T, B>& m) const = 0;
    /// StartsWarm, where the compressor inside does; else without a start.
    virtual void operator()(B& on, std::span<T const> x, key from, std::span<T const> start,
                            any_message<T, B>& m) const = 0;
    /// detail::compress_sum() of the compressor inside.
    virtual bool compress_sum(B& on, kernels::compensation<T> const& sum, key from, std::span<T const> start,
                              any_message<T, B>& m) const = 0;
    virtual std::span<T const> start_after(any_message<T, B> const& m) const = 0;
    /// The compressor inside for a layer of this shape; null where it is the same for all.
    virtual compressor_face* shaped(std::size_t d, std::size_t rows) const = 0;
    virtual void compress_and_write(B& on, wire::bit_writer& sink, std::span<T const> x, key from,
                                    any_message<T, B>& m) const = 0;
    virtual void read_message(B& on, wire::bit_reader& source, any_message<T, B>& m) const = 0;
    virtual void read_and_add(B&, wire::bit_reader&, any_message<T, B>& m, T w, wire::added_to<T> out) const = 0;
    /// Whether the compressor inside has the constant.
    virtual bool unbiased() const = 0;
    virtual bool contractive() const = 0;
    virtual double omega(std::size_t d) const = 0;
    virtual double delta(std::size_t d) const = 0;
    /// detail::largest_of.
    virtual double largest() const = 0;
};
template <class Holder, class T, class B>
struct compressor_model : model<compressor_face<T, B>, Holder> {
    using C = held_by<Holder>;
    static constexpr bool is_face = std::same_as<C, compressor_face<T, B>>;

    using model<compressor_face<T, B>, Holder>::model;
    void check(std::size_t d) const override { this->inside->check(d); }
    void blank(B& on, std::size_t d, key from, any_message<T, B>& m) const override {
        this->inside->blank(on, d, from, own_message(m));
    }
    void operator()(B& on, std::span<T const> x, key from, any_message<T, B>& m) const override {
        (*this->inside)(on, x, from, own_message(m));
    }
    void operator()(B& on, std::span<T const> x, key from, std::span<T const> start,
                    any_message<T, B>& m) const override {
        if constexpr (is_face)
            (*this->inside)(on, x, from, start, m);
        else
            compress_from<T>(on, *this->inside, x, from, start, own_message(m));
    }
    bool compress_sum(B& on, kernels::compensation<T> const& sum, key from, std::span<T const> start,
                      any_message<T, B>& m) const override {
        if constexpr (is_face)
            return this->inside->compress_sum(on, sum, from, start, m);
        else
            return detail::compress_sum<T>(on, *this->inside, sum, from, start, own_message(m));
    }
    std::span<T const> start_after([[maybe_unused]] any_message<T, B> const& m) const override {
        if constexpr (is_face)
            return this->inside->start_after(m);
        else
            return detail::start_after<T, B>(*this->inside, m.template get<message_of<C, T, B>>());
    }
    compressor_face<T, B>* shaped([[maybe_unused]] std::size_t d, [[maybe_unused]] std::size_t rows) const override {
        if constexpr (is_face) return this->inside->shaped(d, rows);
        if constexpr (requires(C & c) { c.shape(d, rows); }) {
            C of_layer = *this->inside;
            of_layer.shape(d, rows);
            return modelled<detail::compressor_model, T, B>(std::move(of_layer));
        }
        return nullptr;
    }
    void compress_and_write(B& on, wire::bit_writer& sink, std::span<T const> x, key from,
                            any_message<T, B>& m) const override {
        if constexpr (OnHost<B>) wire::compress_and_write(on, sink, *this->inside, x, from, own_message(m));
    }
    void read_message(B& on, wire::bit_reader& source, any_message<T, B>& m) const override {
        if constexpr (OnHost<B>) read(on, source, own_message(m), *this->inside);
    }
    void read_and_add(B& on, wire::bit_reader& in, any_message<T, B>& m, T w, wire::added_to<T> to) const override {
        if constexpr (OnHost<B>) wire::read_and_add(on, in, own_message(m), *this->inside, w, to);
    }
    bool unbiased() const override {
        if constexpr (is_face) return this->inside->unbiased();
        return is_unbiased(*this->inside);
    }
    bool contractive() const override {
        if constexpr (is_face) return this->inside->contractive();
        return is_contractive(*this->inside);
    }
    double omega(std::size_t d) const override {
        if constexpr (is_face || Unbiased<C>)
            if (unbiased()) return this->inside->omega(d);
        throw theory_error({this->name(), " is biased: it has no omega"});
    }
    double delta(std::size_t d) const override {
        if constexpr (is_face || Contractive<C>)
            if (contractive()) return this->inside->delta(d);
        throw theory_error({this->name(), " is not known to be contractive: it has no delta"});
    }
    double largest() const override { return largest_of(*this->inside); }
    C& value() { return *this->inside; }

  private:
    static auto& own_message(any_message<T, B>& m) {
        if constexpr (is_face)
            return m;
        else
            return m.template as<message_of<C, T, B>>();
    }
};

}  // namespace detail

/// Any compressor of vectors of T. A constant that the compressor inside does not have throws theory_error, which names
/// the compressor. Two are equal iff their texts are. Default: identity.
template <Scalar T = double, class B = host>
class any_compressor final : public detail::compressor_model<detail::shared<detail::compressor_face<T, B>>, T, B> {
  public:
    using backend = B;
    template <Scalar S, class On>
    using message = any_message<S, On>;
    template <class Other>
    using for_backend = any_compressor<T, Other>;

    any_compressor() : any_compressor(identity{}) {}
    template <class C>
    requires(!std::same_as<C, any_compressor> && Compressor<C, T, B>)
        any_compressor(C compressor)  // NOLINT: implicit, like that of std::function
        : any_compressor::compressor_model(detail::modelled<detail::compressor_model, T, B>(std::move(compressor))) {}

    /// Becomes that for a layer of this shape.
    void shape(std::size_t d, std::size_t rows) {
        if (auto* const of_layer = this->inside->shaped(d, rows)) this->inside = of_layer;
    }
    /// The compressor inside, which must be a C and which no copy shares from then on: for a level that tunes it.
    template <class C>
    C& own() {
        using chosen = detail::compressor_model<detail::held_value<C>, T, B>;
        if (this->inside.use_count() > 1) this->inside = new chosen(static_cast<chosen const&>(*this->inside));
        std::atomic_thread_fence(std::memory_order_acquire);  // after what threads did that had the other copies
        return const_cast<chosen&>(static_cast<chosen const&>(*this->inside)).value();
    }
};

}  // namespace laconic
