#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/payload.hpp"

namespace spillway {

/// The work of a job: a fixed time, one parallel task of the engine, or a program of the embedding
/// that waits for such work one after another. Only the members of its kind have a meaning.
struct Work {
  enum class Kind : std::uint8_t {
    DELAY,              ///< `seconds`
    HOMOGENEOUS,        ///< `cpu` flop per executor, `com` bytes per ordered pair of executors
    HOMOGENEOUS_TOTAL,  ///< the same, divided by the number of executors
    EXPLICIT,  ///< `cpus` flop of n executors, `coms` n x n bytes; row: source, column: destination
    STORAGE_ACCESS,  ///< each executor reads and writes bytes of one storage host, `label`
    IO_STREAM,  ///< `cpu` flop per executor, and bytes written to one storage host, at one pace
    STAGING,    ///< `com` bytes from the storage host `label` to `target`
    PROGRAM     ///< `program`
  };
  Kind kind = Kind::DELAY;
  double seconds = 0.0;
  double cpu = 0.0;
  double com = 0.0;
  double read = 0.0;
  double write = 0.0;
  std::string label;
  std::string target;
  std::vector<double> cpus;
  std::vector<double> coms;
  PayloadPtr program;

  bool is_task() const { return kind != Kind::DELAY && kind != Kind::PROGRAM; }
};

/// A profile of a workload: the work of jobs, under a name.
struct Profile {
  std::string name;
  /// Batsim's `type`.
  std::string kind;
  Work work;
  /// Return code of a job that is not stopped; 0: success.
  std::int32_t ret = 0;
  /// Number of resources that it is made for; -1: any.
  std::int32_t size = -1;
  /// Whether it may run on any number of hosts, independently of the job's request.
  bool elastic = false;
  /// Whether it only runs profiles that may.
  bool elastic_parts = false;
  /// Names of the profiles that it runs.
  std::vector<std::string> children;
  /// The object that described it, as printed.
  PayloadPtr source;
  /// Whether new jobs cannot have it any more; jobs that have it keep it.
  bool dropped = false;
};

using ProfilePtr = std::shared_ptr<Profile>;

}  // namespace spillway
