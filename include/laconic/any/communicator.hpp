// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <span>

#include "laconic/comm/metered.hpp"

namespace laconic {

/// A communicator that is chosen at run time: a handle to one that outlives it and its copies, so that a loop is
/// compiled once for all engines. Reducers, loops and wrappers keep a copy of it, so that the handle itself need not
/// outlive them. Copies refer to the same communicator, which counts and delays as it does without the handle; each
/// call costs one more indirect call. Where the communicator is not PointToPoint, exchange throws argument_error; where
/// it is not Overlapping, finish makes the whole all-gather, and a start and its finish must use the same copy; share
/// throws argument_error where in_one_process() is false.
class any_communicator {
  public:
    static constexpr bool is_handle = true;

    template <Communicator C>
    requires(!std::same_as<C, any_communicator>) any_communicator(C& comm)  // NOLINT: implicit, as std::function
        : comm_(&comm), face_(&face_of<C>), rank_(comm.rank()), size_(comm.size()) {
        if constexpr (detail::Wraps<C>) {
            any_communicator const inside(comm.inner());
            innermost_ = inside.innermost_, innermost_face_ = inside.innermost_face_;
        } else {
            innermost_ = comm_, innermost_face_ = face_;
        }
    }

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool may_change_threads() const { return face_->may_change_threads(comm_); }
    void all_gather(payload mine) {
        later_.check_none();
        face_->all_gather(comm_, mine);
    }
    void start_all_gather(payload mine, int lane = 0) {
        if (face_->overlaps) return face_->start_all_gather(comm_, mine, lane);
        later_.start(lane);
        started_[lane] = mine;
    }
    void finish(int lane = 0) {
        if (face_->overlaps) return face_->finish(comm_, lane);
        later_.finish(lane, [&] { face_->all_gather(comm_, started_[lane]); });
    }
    bool in_one_process() const { return face_->in_one_process(comm_); }
    void share(payload mine) {
        later_.check_none();
        face_->share(comm_, mine);
    }
    void gather(int root, payload mine) {
        later_.check_none();
        face_->gather(comm_, root, mine);
    }
    void broadcast(int root, payload mine) {
        later_.check_none();
        face_->broadcast(comm_, root, mine);
    }
    payload from(int r) const { return face_->from(comm_, r); }
    payload exchange(int to, payload mine, int from) {
        later_.check_none();
        return face_->exchange(comm_, to, mine, from);
    }

    template <class T>
    requires(std::same_as<T, float> || std::same_as<T, double>) void all_reduce(std::span<T> x) {
        later_.check_none();
        if constexpr (std::same_as<T, float>)
            face_->all_reduce_floats(comm_, x);
        else
            face_->all_reduce_doubles(comm_, x);
    }

    /// A handle to the communicator under counters and other wrappers.
    any_communicator innermost() const {
        any_communicator inside = *this;
        inside.comm_ = innermost_, inside.face_ = innermost_face_;
        return inside;
    }
    /// Whether exchange can be called: the communicator is PointToPoint.
    bool is_point_to_point() const { return face_->is_point_to_point; }

  private:
    struct face {
        bool is_point_to_point, overlaps;
        bool (*may_change_threads)(void*);
        void (*all_gather)(void*, payload);
        void (*start_all_gather)(void*, payload, int);
        void (*finish)(void*, int);
        bool (*in_one_process)(void*);
        void (*share)(void*, payload);
        void (*gather)(void*, int, payload);
        void (*broadcast)(void*, int, payload);
        payload (*from)(void*, int);
        payload (*exchange)(void*, int, payload, int);
        void (*all_reduce_floats)(void*, std::span<float>);
        void (*all_reduce_doubles)(void*, std::span<double>);
    };
    template <class C>
    static C& as(void* comm) {
        return *static_cast<C*>(comm);
    }
    template <class C>
    static payload exchange_of(void* comm, int to, payload mine, int from) {
        if constexpr (PointToPoint<C>) return as<C>(comm).exchange(to, mine, from);
        throw argument_error(
            "this communicator is not PointToPoint: it has no exchange(to, mine, from), by which this collective "
            "sends; "
            "take one such as tcp (engine=\"tcp\" in PyTorch), or gather in place of the collective");
    }
    template <class C, class T>
    static void all_reduce_of(void* comm, std::span<T> x) {
        if constexpr (AllReducer<C, T>)
            as<C>(comm).all_reduce(x);
        else
            throw argument_error("this communicator's engine adds up no vectors: it has no all_reduce(x)");
    }
    template <class C>
    static constexpr face face_of = {
        PointToPoint<C>,
        Overlapping<C>,
        [](void* comm) { return detail::may_change_threads(as<C>(comm)); },
        [](void* comm, payload mine) { as<C>(comm).all_gather(mine); },
        []([[maybe_unused]] void* comm, [[maybe_unused]] payload mine, [[maybe_unused]] int lane) {
            if constexpr (Overlapping<C>) as<C>(comm).start_all_gather(mine, lane);
        },
        []([[maybe_unused]] void* comm, [[maybe_unused]] int lane) {
            if constexpr (Overlapping<C>) as<C>(comm).finish(lane);
        },
        []([[maybe_unused]] void* comm) {
            if constexpr (detail::OneProcess<decltype(detail::innermost(as<C>(comm)))>)
                return detail::innermost(as<C>(comm)).in_one_process();
            return false;
        },
        []([[maybe_unused]] void* comm, [[maybe_unused]] payload mine) {
            if constexpr (detail::OneProcess<decltype(detail::innermost(as<C>(comm)))>)
                detail::innermost(as<C>(comm)).share(mine);
            else
                throw argument_error("this communicator's ranks are not in one process: it has no share(mine)");
        },
        [](void* comm, int root, payload mine) { as<C>(comm).gather(root, mine); },
        [](void* comm, int root, payload mine) { as<C>(comm).broadcast(root, mine); },
        [](void* comm, int r) { return as<C>(comm).from(r); },
        exchange_of<C>,
        all_reduce_of<C, float>,
        all_reduce_of<C, double>,
    };

    void *comm_, *innermost_;
    face const *face_, *innermost_face_;
    int rank_, size_;
    detail::under_way later_;  // where the engine does not overlap: the all-gathers that finish will make
    detail::per_lane<payload> started_;
};

}  // namespace laconic
