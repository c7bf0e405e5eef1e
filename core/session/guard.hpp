// The guard: checks each decision of a policy once, against the book, and refuses it with the
// reason.
//
// Batsim answers an illegal request by aborting. The guard refuses it first, so that a faulty
// policy is found where it errs. It has no state of its own.
#pragma once
#include "book/book.hpp"
#include "session/faults.hpp"

namespace spillway {

// Refuse to start a job that does not wait, or on an allocation that is not free, too small or too
// large. nodes: those that it may start on, fewer than it requests where it is moldable. A job that
// holds its burst buffer already must be started on it; an I/O rate may be the job's or 0, as a
// scheduler that ignores bandwidth books 0.
void check_start(const Book& book, bool waiting, const Job& job, std::int64_t nodes,
                 const Allocation& allocation);

// Refuse to give a job a burst buffer unless the job waits and requests just that, and it is free.
void check_hold(const Book& book, bool waiting, const Job& job, const Allocation& allocation,
                double until_s, double now_s);

// Refuse storages for a request unless they are just what it requests, and free.
void check_storages(const Book& book, const Job& job, std::int64_t requests,
                    const Allocation& allocation);

// Refuse a wake-up that Batsim would find in its past.
void check_wake(double time_s, double now_s);

}  // namespace spillway
