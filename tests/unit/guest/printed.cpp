// Records of a print buffer as text.
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "runtime/guest/printed.hpp"

using namespace lanewise;

namespace {

/// Bytes of a record, put down by hand.
class Bytes {
 public:
  template <typename T>
  Bytes& put(T value) {
    const size_t at = all_.size();
    all_.resize(at + sizeof value);
    std::memcpy(all_.data() + at, &value, sizeof value);
    return *this;
  }
  Bytes& text(const char* t, size_t size) {
    const size_t at = all_.size();
    all_.resize(at + size);
    std::memcpy(all_.data() + at, t, std::strlen(t));
    return *this;
  }
  const std::vector<std::byte>& all() const { return all_; }

 private:
  std::vector<std::byte> all_;
};

std::string cuda(const Bytes& bytes, const std::map<uint64_t, std::string>& strings) {
  return guest::printed_by_cuda(bytes.all(), [&](uint64_t at) -> std::optional<std::string> {
    const auto found = strings.find(at);
    return found == strings.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("printed: CUDA's records") {
  Bytes two;
  two.put<uint32_t>(16).put<uint32_t>(0).put<uint64_t>(0x100);
  two.put<uint32_t>(48).put<uint32_t>(8).put<uint64_t>(0x200);
  two.put<int32_t>(-7)
      .put<uint32_t>(0)
      .put<double>(2.5)
      .put<uint64_t>(0x300)
      .put<uint32_t>('z')
      .put<uint32_t>(0);
  CHECK(cuda(two, {{0x100, "hello\n"}, {0x200, "%d %.1f %s%c\n"}, {0x300, "abc"}}) ==
        "hello\n-7 2.5 abcz\n");
}

TEST_CASE("printed: CUDA's records that are not whole") {
  Bytes one;
  one.put<uint32_t>(24).put<uint32_t>(1).put<uint64_t>(0x100).put<uint32_t>(5).put<uint32_t>(0);
  CHECK(cuda(one, {{0x100, "%d %d\n"}}) == "5 (no argument)\n");
  CHECK(cuda(one, {}) == "(unreadable format)");
  CHECK(cuda(one, {{0x100, "%*d\n"}}) == "(no argument)\n");
  Bytes cut;
  cut.put<uint32_t>(64).put<uint32_t>(0).put<uint64_t>(0x100);
  CHECK(cuda(cut, {{0x100, "x"}}) == "");
  CHECK(cuda(Bytes().put<uint64_t>(0).put<uint64_t>(0), {}) == "");  // never written
  Bytes strings;
  strings.put<uint32_t>(32).put<uint32_t>(4).put<uint64_t>(0x100).put<uint64_t>(0).put<uint64_t>(1);
  CHECK(cuda(strings, {{0x100, "%s|%s"}}) == "(null)|(unreadable string)");
}

TEST_CASE("printed: copies of strings stand behind the arguments") {
  Bytes one;
  one.put<uint32_t>(72).put<uint16_t>(6).put<uint16_t>(5).put<uint64_t>(0x100);
  one.put<uint64_t>(0x300).put<uint32_t>(7).put<uint32_t>(0).put<uint64_t>(0x400);
  one.put<uint32_t>(2).put<uint32_t>(3).text("ab", 8);
  one.put<uint32_t>(5).put<uint32_t>(1000).text("no end!!", 8);
  CHECK(cuda(one, {{0x100, "%s %d %s\n"}, {0x300, "read"}, {0x400, "old"}}) == "read 7 ab\n");
}

TEST_CASE("printed: CUDA's printf takes 32 arguments") {
  Bytes one;
  one.put<uint32_t>(16 + 4 * 34).put<uint32_t>(34).put<uint64_t>(0x100);
  std::string format, want;
  for (uint32_t n = 0; n < 34; ++n) {
    one.put<uint32_t>(n);
    format += "%3d,";
    const std::string number = std::to_string(n);
    want += n < 32 ? std::string(3 - number.size(), ' ') + number + "," : "%3d,";
  }
  CHECK(cuda(one, {{0x100, format}}) == want);
}

TEST_CASE("printed: OpenCL's records") {
  const std::vector<std::string> formats = {"1:1:4:%d\\n",
                                            "2:3:8:4:16:%ld\\72 %f %v4d\\n",
                                            "3:2:8:4:<%s> %v4hhd\\n",
                                            "4:0:plain\\n",
                                            "5:1:16:%v3hlf\\n",
                                            "broken"};
  const auto text = [&](const Bytes& b) { return guest::printed_by_opencl(b.all(), formats); };
  CHECK(text(Bytes().put<uint32_t>(4).put<uint32_t>(1).put<int32_t>(-3)) == "plain\n-3\n");
  CHECK(text(Bytes()
                 .put<uint32_t>(2)
                 .put<int64_t>(-5000000000)
                 .put<float>(0.5f)
                 .put<int32_t>(1)
                 .put<int32_t>(2)
                 .put<int32_t>(3)
                 .put<int32_t>(-4)) == "-5000000000: 0.500000 1,2,3,-4\n");
  CHECK(text(Bytes().put<uint32_t>(3).text("abcd", 8).put<uint32_t>(0xff020304)) ==
        "<abcd> 4,3,2,-1\n");
  CHECK(text(Bytes().put<uint32_t>(5).put<float>(1).put<float>(2).put<float>(3).put<float>(0)) ==
        "1.000000,2.000000,3.000000\n");
  CHECK(text(Bytes().put<uint32_t>(9)).find("unknown format") != std::string::npos);
  CHECK(text(Bytes().put<uint32_t>(1)) == "(no argument)\n(a record that is cut off)\n");
}
