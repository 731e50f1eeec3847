// What a program can do wrong with the C++ API: each is an error that says so, and harms nothing.
#include "tests/unit/api/support.hpp"

using namespace api_test;
using lanewise::Arg;
using lanewise::Buffer;
using lanewise::Device;
using lanewise::ErrorDetail;

namespace {

/// Runs `scale` over four floats and says whether the results are right.
bool works(Device& device) {
  const auto kernel = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  Buffer b = device.buffer(std::vector<float>{1, 2, 3, 4});
  kernel.launch({.grid = {1}, .block = {4}}, b, 10.0f, 4).check();
  return b.read<float>() == std::vector<float>{10, 21, 32, 43};
}

}  // namespace

TEST_CASE("empty handles are refused") {
  std::string message;
  CHECK(refused([] { Device().info(); }, &message) == ErrorDetail::bad_handle);
  CHECK(message.find("empty Device handle") != std::string::npos);
  CHECK(refused([] { Device().allocate(4); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Device().allocate_paged(4); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Device().load_text(kScale, lanewise::Isa::ptx); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Device().close(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Buffer().address(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Buffer().size(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Buffer().read<int>(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Buffer().write(std::vector<int>{1}); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Buffer().set_resident(0, 1, true); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { Arg a{Buffer()}; }) == ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Module().kernels(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Module().kernel(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Module().symbol("x"); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Module().warnings(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Kernel().name(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Kernel().params(); }) == ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Kernel().launch({}, std::vector<Arg>{}); }) ==
        ErrorDetail::bad_handle);
  CHECK(refused([] { lanewise::Kernel().ir(); }) == ErrorDetail::bad_handle);
}

TEST_CASE("a buffer of another device is refused, and neither device is written") {
  Device one = Device::open(selector()), other = Device::open("reference");
  const auto kernel = one.load_text(kScale, lanewise::Isa::ptx).kernel();
  Buffer own = one.buffer(std::vector<float>{1, 1}),
         other_device = other.buffer(std::vector<float>{7, 7});
  std::string message;
  CHECK(refused([&] { kernel.launch({.grid = {1}, .block = {2}}, other_device, 2.0f, 2); },
                &message) == ErrorDetail::other_device);
  CHECK(message.find("argument 1 is a buffer of another device") != std::string::npos);
  CHECK(own.read<float>() == std::vector<float>{1, 1});
  CHECK(other_device.read<float>() == std::vector<float>{7, 7});
}

TEST_CASE("sizes that overflow are refused, and allocations go on") {
  Device device = Device::open(selector());
  for (const uint64_t bytes : {~uint64_t{0}, ~uint64_t{0} - 4095, (uint64_t{1} << 40) + 1}) {
    CAPTURE(bytes);
    CHECK(refused([&] { device.allocate(bytes); }) != ErrorDetail::none);
    CHECK(refused([&] { device.allocate_paged(bytes); }) != ErrorDetail::none);
  }
  Buffer b = device.allocate(16);
  std::vector<std::byte> some(8);
  CHECK(refused([&] { b.write(some, 9); }) == ErrorDetail::out_of_range);
  CHECK(refused([&] { b.write(some, ~uint64_t{0}); }) == ErrorDetail::out_of_range);
  CHECK(refused([&] { b.read(some, ~uint64_t{0} - 3); }) == ErrorDetail::out_of_range);
  Buffer paged = device.allocate_paged(1);
  CHECK(refused([&] { paged.set_resident(1, 1, false); }) == ErrorDetail::out_of_range);
  CHECK(refused([&] { paged.set_resident(~uint64_t{0}, 2, false); }) == ErrorDetail::out_of_range);
  CHECK(works(device));
}

TEST_CASE("an allocation that failed does not prevent later ones") {
  Device device = Device::open(selector());
  const uint64_t address = device.allocate(64).address();
  for (int i = 0; i < 3; ++i)
    CHECK(refused([&] { device.allocate(uint64_t{1} << 39); }) != ErrorDetail::none);
  CHECK(works(device));
  CHECK(device.allocate(64).address() - address < 4096);  // behind what was released just now
}

TEST_CASE("memory after a failed allocation is zero") {
  Device device = Device::open(selector());
  CHECK(refused([&] { device.allocate(uint64_t{1} << 39); }) != ErrorDetail::none);
  Buffer b = device.allocate(1 << 20);
  CHECK(b.read<uint32_t>() == std::vector<uint32_t>(1 << 18));
}

TEST_CASE("arguments that contradict what a parameter is declared as are refused") {
  Device device = Device::open(selector());
  const auto kernel = device.load_text(kScale, lanewise::Isa::ptx).kernel();
  Buffer b = device.buffer(std::vector<float>{1, 2});
  const lanewise::LaunchOptions o{.grid = {1}, .block = {2}};
  std::string message;
  CHECK(refused([&] { kernel.launch(o, b, 2, 2); }, &message) == ErrorDetail::argument_kind);
  CHECK(message == "kernel 'scale': argument 2 ('a') is declared as f32, an integer was given");
  CHECK(refused([&] { kernel.launch(o, b, b, 2); }) == ErrorDetail::argument_kind);
  CHECK(refused([&] { kernel.launch(o, b, 2.0f, 2.0f); }) == ErrorDetail::argument_kind);
  CHECK(refused([&] { kernel.launch(o, 1.0, 2.0f, 2); }) == ErrorDetail::argument_kind);
  CHECK(refused([&] { kernel.launch(o, b, 2.0, 2); }) == ErrorDetail::argument_kind);
  CHECK(refused([&] { kernel.launch(o, b, 2.0f, uint64_t{1} << 32); }) ==
        ErrorDetail::argument_kind);
  CHECK(refused([&] { kernel.launch(o, b, 2.0f); }) == ErrorDetail::argument_count);
  CHECK(b.read<float>() == std::vector<float>{1, 2});
  // Bytes are taken as they are, integers of another width where the value fits.
  const float two = 2;
  kernel.launch(o, b, Arg::raw(std::as_bytes(std::span(&two, 1))), uint64_t{2}).check();
  CHECK(b.read<float>() == std::vector<float>{2, 5});
}

TEST_CASE("a parameter of an untyped kind takes numbers of every kind") {
  Device device = Device::open(selector());
  std::string text = kScale;
  text.replace(text.find(".param .f32 a"), 13, ".param .b32 a");
  const auto kernel = device.load_text(text, lanewise::Isa::ptx).kernel();
  CHECK(kernel.params()[0].type == "u64");
  CHECK(kernel.params()[1].type.empty());
  Buffer b = device.buffer(std::vector<float>{1, 2});
  kernel.launch({.grid = {1}, .block = {2}}, b, 3.0f, 2).check();
  kernel.launch({.grid = {1}, .block = {2}}, b, 0x40400000, 2).check();  // the bits of 3
  CHECK(b.read<float>() == std::vector<float>{9, 22});
}

TEST_CASE("what was made from a closed device says so") {
  Device device = Device::open(selector());
  const auto module = device.load_text(kScale, lanewise::Isa::ptx);
  const auto kernel = module.kernel();
  Buffer b = device.allocate(16);
  device.close();
  std::string message;
  CHECK(refused([&] { b.read<int>(); }, &message) == ErrorDetail::device_closed);
  CHECK(message.find("was closed") != std::string::npos);
  CHECK(refused([&] { b.write(std::vector<int>{1}); }) == ErrorDetail::device_closed);
  CHECK(refused([&] { device.allocate(4); }) == ErrorDetail::device_closed);
  CHECK(refused([&] { kernel.launch({.grid = {1}, .block = {1}}, b, 1.0f, 1); }) ==
        ErrorDetail::device_closed);
  CHECK(refused([&] { device.load_text(kScale, lanewise::Isa::ptx); }) ==
        ErrorDetail::device_closed);
  device.close();  // once more is no harm
  CHECK(!device.info().name.empty());
  CHECK(module.kernels() == std::vector<std::string>{"scale"});
}

TEST_CASE("the last owner of memory may outlive its device handle") {
  Buffer b;
  {
    Device device = Device::open(selector());
    b = device.buffer(std::vector<int>{1, 2, 3});
  }
  CHECK(b.read<int>() == std::vector<int>{1, 2, 3});
}
