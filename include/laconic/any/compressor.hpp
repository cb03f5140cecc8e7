// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "laconic/any/holder.hpp"
#include "laconic/compress/compress_sum.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/message/message.hpp"
#include "laconic/message/term_list.hpp"
#include "laconic/wire/message.hpp"

/// Compressors that are chosen at run time: the same values behind one type. They cost a virtual call a message; the
/// bytes are those of the compressor inside.
namespace laconic {

/// The message of an any_compressor: a message of any type, or none yet.
template <Scalar T, class B>
class any_message {
  public:
    using value_type = T;
    template <class Other>
    using for_backend = any_message<T, Other>;

    std::size_t dimension() const { return held_ ? held_->dimension() : 0; }

    /// The message inside if it is an M, otherwise a new M in its place.
    template <class M>
    M& as() {
        if (!holds<M>()) held_.reset(new model<M>(M{}));
        return static_cast<model<M>&>(*held_).message();
    }

    /// Whether the message inside is an M.
    template <class M>
    bool holds() const {
        return held_ && held_->kind() == &kind_of<M>;
    }
    /// The message inside, which must be an M.
    template <class M>
    M const& get() const {
        LACONIC_EXPECTS(holds<M>());
        return static_cast<model<M>&>(*held_).message();
    }

    friend void add_message(B& on, std::span<T> out, T w, any_message const& m) {
        if (m.held_) m.held_->add_to(on, out, w);
    }
    friend bool append_terms(B& on, detail::term_list<T>& list, any_message const& m) {
        return m.held_ && m.held_->append_to(on, list);
    }
    template <wire::BitSink W>
    friend void write(W& sink, any_message const& m) requires OnHost<B> {
        if (m.held_) m.held_->encode(&sink, false);
    }
    template <wire::BitSink W>
    friend void write_shape(W& sink, any_message const& m) requires OnHost<B> {
        if (m.held_) m.held_->encode(&sink, true);
    }
    friend double bits_as_paper(any_message const& m) requires OnHost<B> { return m.held_ ? m.held_->as_paper() : 0; }
    friend bool operator==(any_message const& a, any_message const& b) {
        return a.held_ && b.held_ ? a.held_->equals(*b.held_) : !a.held_ && !b.held_;
    }

    /// Parts of copy_message: copies the message inside to the host, and from there; a compressor must have made it
    /// blank.
    void copy_to(B& on, host& to_on, any_message<T, host>& to) const requires(!OnHost<B>) {
        if (held_)
            held_->copy_to(on, to_on, to);
        else
            to = {};
    }
    void copy_from(host& from_on, any_message<T, host> const& from, B& on) requires(!OnHost<B>) {
        if (held_) held_->copy_from(from_on, from, on);
    }

  private:
    // Its address identifies the type of the message inside, also with -fno-rtti. Not const, so that no linker merges
    // two.
    template <class M>
    static inline char kind_of = 0;

    struct sink_pointer {  // one of the two (a std::variant is visited by half a dozen functions for each message)
        wire::bit_writer* writer = nullptr;
        wire::ledger* counter = nullptr;
        sink_pointer(wire::bit_writer* w) : writer(w) {}  // NOLINT: implicit
        sink_pointer(wire::ledger* c) : counter(c) {}     // NOLINT: implicit
    };
    struct face : detail::face {
        virtual void const* kind() const = 0;
        virtual std::size_t dimension() const = 0;
        virtual void add_to(B& on, std::span<T> out, T w) const = 0;
        virtual bool append_to(B& on, detail::term_list<T>& list) const = 0;
        virtual void encode(sink_pointer to, bool shape) const = 0;
        virtual double as_paper() const = 0;
        virtual bool equals(face const& other) const = 0;
        virtual void copy_to(B& on, host& to_on, any_message<T, host>& to) const = 0;
        virtual void copy_from(host& from_on, any_message<T, host> const& from, B& on) = 0;
    };
    // Messages on the host are encoded here, others are copied there first.
    template <class M>
    struct model final : detail::model<face, detail::held_value<M>> {
        using detail::model<face, detail::held_value<M>>::model;
        M& message() { return *this->inside; }
        M const& message() const { return *this->inside; }
        void const* kind() const override { return &kind_of<M>; }
        std::size_t dimension() const override { return message().dimension(); }
        void add_to(B& on, std::span<T> out, T w) const override { add_message(on, out, w, message()); }
        bool append_to([[maybe_unused]] B& on, [[maybe_unused]] detail::term_list<T>& list) const override {
            if constexpr (OnHost<B> && detail::MayListTerms<M, T, B>) return append_terms(on, list, message());
            return false;
        }
        void encode(sink_pointer to, bool shape) const override {
            if constexpr (OnHost<B>) to.writer ? encode_to(*to.writer, shape) : encode_to(*to.counter, shape);
        }
        void encode_to(auto& sink, bool shape) const {
            if (!shape) return write(sink, message());
            if constexpr (requires { write_shape(sink, message()); })
                write_shape(sink, message());
            else
                throw argument_error("this message has no self-describing form: it has no user_kind");
        }
        double as_paper() const override {
            using wire::bits_as_paper;
            if constexpr (OnHost<B>) return bits_as_paper(message());
            return 0;
        }
        bool equals(face const& other) const override {
            return other.kind() == kind() && static_cast<model const&>(other).message() == message();
        }
        void copy_to(B& on, host& to_on, any_message<T, host>& to) const override {
            if constexpr (!OnHost<B>) copy_message(on, message(), to_on, to.template as<messages::moved_to<host, M>>());
        }
        void copy_from(host& from_on, any_message<T, host> const& from, B& on) override {
            if constexpr (!OnHost<B>)
                copy_message(from_on, from.template get<messages::moved_to<host, M>>(), on, message());
        }
    };
    detail::owned<face> held_;
};

template <Scalar T, class B>
requires(!OnHost<B>) void copy_message(B& from_on, any_message<T, B> const& from, host& to_on,
                                       any_message<T, host>& to) {
    from.copy_to(from_on, to_on, to);
}
template <Scalar T, class B>
requires(!OnHost<B>) void copy_message(host& from_on, any_message<T, host> const& from, B& to_on,
                                       any_message<T, B>& to) {
    to.copy_from(from_on, from, to_on);
}

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
