// What the handles of the C API stand for.
#pragma once

#include <list>
#include <map>
#include <mutex>

#include "runtime/api/api.hpp"
#include "runtime/cache/reports/tracker_set.hpp"
#include "runtime/capi/handles.hpp"

namespace lanewise::capi {

using namespace host;  // what the handles hold; the public C++ header has other classes

struct DeviceObject final : Object {
  using Handle = lw_device;
  static constexpr HandleKind kKind = HandleKind::device;
  explicit DeviceObject(Device d) : Object(kKind), device(std::move(d)) {}
  Device device;

  /// Loads a text, or finds it among the last that were loaded this way.
  Module program(const std::string& text, Isa isa);

 private:
  struct Program {
    std::string text;
    Module module;
  };
  std::mutex programs_mutex_;
  std::list<Program> programs_;  ///< the latest first
};

struct BufferObject final : Object {
  using Handle = lw_buffer;
  static constexpr HandleKind kKind = HandleKind::buffer;
  explicit BufferObject(Buffer b) : Object(kKind), buffer(std::move(b)) {}
  Buffer buffer;
};

struct ModuleObject final : Object {
  using Handle = lw_module;
  static constexpr HandleKind kKind = HandleKind::module;
  explicit ModuleObject(Module m);
  Module module;
  std::vector<std::string> kernels;
};

struct KernelObject final : Object {
  using Handle = lw_kernel;
  static constexpr HandleKind kKind = HandleKind::kernel;
  explicit KernelObject(Kernel k);
  Kernel kernel;
  std::vector<ParamInfo> params;
};

struct ResultObject final : Object {
  using Handle = lw_result;
  static constexpr HandleKind kKind = HandleKind::result;
  explicit ResultObject(Result r);
  Result result;
  struct FaultText {
    std::string kind, report;
  };
  std::vector<FaultText> texts;  ///< one for each reported fault
};

struct CancelObject final : Object {
  using Handle = lw_cancel;
  static constexpr HandleKind kKind = HandleKind::cancel;
  CancelObject() : Object(kKind) {}
  std::atomic<bool> requested = false;
};

struct BlobObject final : Object {
  using Handle = lw_blob;
  static constexpr HandleKind kKind = HandleKind::blob;
  using Notes = std::map<std::string, std::string>;
  explicit BlobObject(std::string b, Notes n = {})
      : Object(kKind), bytes(std::move(b)), notes(std::move(n)) {}
  const std::string bytes;
  const Notes notes;
};

/// Where memory events go: trackers and a trace file.
struct CacheObject final : Object {
  using Handle = lw_cache;
  static constexpr HandleKind kKind = HandleKind::cache;
  /// The trackers first, then the file is opened. policies: how a trace is read, for reports.
  CacheObject(const lw_cache_options& options,
              std::vector<std::pair<std::string, std::string>> policies = {});
  /// Parts of a trace that were put together.
  CacheObject(std::vector<std::unique_ptr<cache::Tracker>> merged, trace::ReadResult of)
      : Object(kKind), trackers(std::move(merged)), read(std::move(of)), finished(true) {}
  ~CacheObject() override;
  /// Takes what the launches of a device do.
  void follow(const Device& device, uint64_t buffer_bytes, const char* input);
  /// Nothing more will come.
  void finish();

  cache::TrackerSet trackers;
  std::unique_ptr<cache::ExactMemory> exact;
  std::unique_ptr<trace::Sink> file;
  trace::Fan sink;  ///< to all of them
  trace::ReadResult read;
  Device device;  ///< whose launches are followed
  bool follows = false, finished = false;
  bool is_part = false;  ///< has no report
};

/// Gives the object a handle in *out.
template <typename T, typename... Args>
void give(typename T::Handle** out, Args&&... args) {
  *out = new_handle(std::make_shared<T>(std::forward<Args>(args)...));
}

/// Clears *out, which must be there, before anything can go wrong.
template <typename T>
void clear_out(T** out) {
  *required(out, "out") = nullptr;
}

}  // namespace lanewise::capi
