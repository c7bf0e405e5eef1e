// The book: the only record of the resources that each job holds, and until when; its first row is
// the present.
//
// A job's resources (nodes, bytes on storage nodes, bandwidth) are booked until its expected end; a
// job that outlives it is booked further, a little at a time. All kinds of resources share the
// job's interval unless the job has lives of its own, was given its burst buffer before its nodes,
// or gave one kind back before another: then each kind is a part with an interval of its own. Nodes
// by which a job was expanded are parts, too: they are booked until they are expected back, which
// may be long before the job's end.
//
// A job continues on a node that a machine event made unavailable (Batsim's rule). Its resources
// there are not booked while the node is out, as nothing is free there anyway; they are booked
// again when the node is back.
#pragma once
#include <exception>
#include <map>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "book/accounts.hpp"
#include "book/holdings.hpp"
#include "book/timeline.hpp"

namespace spillway {

// A persistent buffer: it belongs to no job, and is booked without end.
struct KeptBuffer {
  std::string name;
  AllocationPtr allocation;
  double since_s = 0.0;
};

// A booking or a release that the timeline refuses: the caller had not checked it. Python:
// Overbooked, ValueError.
struct Overbooking final : std::exception {
  explicit Overbooking(Refusal refused) : refusal(std::move(refused)) {}
  const char* what() const noexcept override { return "a booking that the timeline refuses"; }
  Refusal refusal;
};

class Book {
 public:
  static constexpr double SHORTEST_S = 1.0;  // shortest booking of extra nodes (s)

  Book(std::shared_ptr<Timeline> timeline, std::shared_ptr<Estimator> estimator);

  // ------------------------------------------------------------------ questions

  const std::shared_ptr<Timeline>& timeline_ptr() const { return timeline_; }
  Timeline& timeline() { return *timeline_; }
  const Timeline& timeline() const { return *timeline_; }
  double now_s() const { return now_s_; }
  // Jobs that run, in order of their starts.
  std::vector<RunningPtr> running() const;
  std::size_t running_count() const { return order_.size(); }
  // A running job, or null.
  RunningPtr running(const std::string& job_id) const;
  // The burst buffer of a waiting job, or null.
  HoldingPtr held(const std::string& job_id) const;
  // Ids of the waiting jobs that hold burst buffers, in order of their holds.
  std::vector<std::string> held_ids() const;
  std::size_t held_count() const { return held_order_.size(); }
  // The job that holds a node, or null.
  const JobPtr& holder(std::int32_t node) const { return holder_[std::size_t(node)]; }
  std::int32_t node_count() const { return std::int32_t(holder_.size()); }
  // Nodes that no job holds and that are available, ascending.
  Nodes free_nodes() const;
  // Free bytes on a storage node now; negative while a drained one holds more than the rest of its
  // capacity.
  std::int64_t left_bytes(std::int32_t storage) const;
  // Whether a node or a storage node is out.
  bool node_out(std::int32_t node) const { return has(nodes_out_, node); }
  bool storage_out(std::int32_t storage) const { return has(storages_out_, storage); }
  const Nodes& nodes_out() const { return nodes_out_; }
  const Nodes& storages_out() const { return storages_out_; }
  const std::map<std::int32_t, std::int64_t>& drained() const { return drained_; }
  const std::vector<KeptBuffer>& kept() const { return kept_; }
  // The available part of an allocation; its storages need not correspond to its nodes one by one.
  Allocation there(const Allocation& allocation) const;
  // Resources that a job holds, kind by kind; nothing if it holds none.
  std::optional<Held> parts_of(const std::string& job_id) const;
  // Whether a job holds anything.
  bool holds(const std::string& job_id) const;
  // Nodes by which a job was expanded, or which it will leave before its end, ascending.
  Nodes extra_nodes(const std::string& job_id) const;
  // Usage of each user's jobs until now, in order of first use; queue: the waiting jobs.
  std::vector<std::pair<std::string, Usage>> usage(const std::vector<JobPtr>& queue,
                                                   double now_s) const;

  // ------------------------------------------------------------------ burst buffers without nodes

  // Give a waiting job its burst buffer, expected to be held until until_s.
  void hold(const JobPtr& job, const AllocationPtr& allocation, double now_s, double until_s);
  // Take the burst buffer of a waiting job away; return its holding, which ends now.
  HoldingPtr evict(const std::string& job_id, double now_s);
  // Create a persistent buffer, or destroy one.
  void keep(KeptBuffer buffer);
  KeptBuffer discard(const std::string& name, double now_s);

  // ------------------------------------------------------------------ jobs

  // Start a job, on its burst buffer if it holds one already.
  void start(const JobPtr& job, const AllocationPtr& allocation, double now_s);
  // Release all resources of a job that has ended; return the job with holdings until now.
  RunningPtr end(const std::string& job_id, double now_s);
  // Take a running job off its nodes (false: its holdings have lives of their own), and put it onto
  // others.
  bool lift(const std::string& job_id, double now_s);
  void place(const JobPtr& job, const AllocationPtr& allocation, double now_s);
  // Give a running job more resources, expected back by until_s; return the changed job.
  RunningPtr expand(const std::string& job_id, const AllocationPtr& gained, double now_s,
                    double until_s);
  // Book nodes (ascending) that a running job will leave by until_s only until then, like extra
  // ones.
  void give_up(const std::string& job_id, const Nodes& nodes, double now_s, double until_s);
  // Release nodes (ascending; null: all) of a running job, or kinds of resources granted for them.
  // Returns the changed job; null, with nothing changed and the reason in `why`, where the job does
  // not hold them so.
  struct GiveBackFault {
    enum Code : std::uint8_t { NOTHING_HELD, EXTRA_NOT_WHOLE, UNKNOWN_NODE } code;
    std::int32_t node;
  };
  RunningPtr give_back(const std::string& job_id, double now_s, const Nodes* nodes, Kinds kinds,
                       GiveBackFault& why);
  // Shorten a running job's bookings to its kill at until_s; later extensions are by OVERDUE_S
  // each.
  void leave(const std::string& job_id, double until_s, double now_s);
  // Free these kinds of a running job's resources, from a time on, in a copy of the timeline.
  void vacate(Timeline& timeline, const std::string& job_id, double from_s, Kinds kinds) const;

  // ------------------------------------------------------------------ time and outages

  // Advance the timeline; extend bookings that jobs have outlived, but not those of the job
  // `ending` now.
  void advance(double now_s, const std::string* ending = nullptr);
  // Make nodes and storage nodes (ascending) unavailable from now on; jobs keep their resources
  // there.
  void close(const Nodes& nodes, const Nodes& storages, double now_s);
  // Make them available again; resources that jobs hold there are booked again.
  void open(const Nodes& nodes, const Nodes& storages, double now_s);
  // Withhold drained bytes of a storage node in all from now on; jobs keep the bytes that they
  // hold.
  void drain(std::int32_t storage, std::int64_t drained, double now_s);

  // First fault of the book against itself and the timeline, in words; empty: none.
  std::string fault() const;

  Accounts accounts;

 private:
  struct Entry {
    JobPtr job;
    std::vector<BookingPtr> parts;
    RunningPtr running;
    HoldingPtr held;
    std::int64_t order = 0;  // place among the running jobs, or among the holds
    bool leaving = false;
    BookingPtr lifted;
  };
  struct End {
    double end_s;
    std::int64_t job_number, pushed;
    BookingPtr part;
    bool operator>(const End& other) const {
      if (end_s != other.end_s) return end_s > other.end_s;
      if (job_number != other.job_number) return job_number > other.job_number;
      return pushed > other.pushed;
    }
  };

  Entry& entry(const std::string& job_id);
  const Entry* find(const std::string& job_id) const;
  void enter(Entry& entry, BookingPtr part);
  void add_extra(Entry& entry, const AllocationPtr& allocation, double now_s, double until_s);
  void watch(const BookingPtr& part);
  void free(const Nodes& nodes);
  void book(double start_s, double end_s, const Allocation& allocation, Kinds kinds);
  void reserve(double start_s, double end_s, const Allocation& allocation, Kinds kinds);
  void release(const Booking& part, const Allocation& allocation, Kinds kinds, double now_s);
  void give(Timeline& timeline, double start_s, double end_s, const Allocation& allocation,
            Kinds kinds) const;
  std::vector<std::pair<Allocation, Kinds>> available(const Allocation& allocation,
                                                      Kinds kinds) const;
  void extend(Entry& entry, const BookingPtr& part, double now_s);
  void move_end(const BookingPtr& part, double end_s, double now_s);
  RunningPtr refresh(Entry& entry, double now_s, const Holdings& past = {});
  std::int64_t bytes_on(std::int32_t storage) const;
  std::string timeline_fault(double time_s) const;
  void leave_left(Entry& entry, const Booking& part, Kinds kinds, const Nodes* nodes);

  std::shared_ptr<Timeline> timeline_;
  std::shared_ptr<Estimator> estimator_;
  double now_s_;
  std::vector<JobPtr> holder_;
  std::unordered_map<std::string, Entry> entries_;
  std::map<std::int64_t, Entry*> order_, held_order_;
  std::int64_t orders_ = 0, pushed_ = 0;
  std::vector<KeptBuffer> kept_;
  Nodes nodes_out_, storages_out_;
  std::map<std::int32_t, std::int64_t> drained_;
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends_;
};

}  // namespace spillway
