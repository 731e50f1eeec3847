#include "tests/hardware/truth/both.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::truth {

std::string words_text(std::span<const uint32_t> words) {
  std::string text;
  for (const uint32_t w : words) text += fmt::format("{}{:08x}", text.empty() ? "" : " ", w);
  return text;
}

std::vector<std::string> parts_of(const std::string& form) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= form.size();) {
    const size_t end = std::min(form.find('.', from), form.size());
    parts.push_back(form.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

std::vector<Words> on_card(const Card& card, const Job& job) {
  const auto program = card.load(job.text);
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<std::vector<std::byte>> arguments;
  for (const Words& words : job.buffers) {
    memory.push_back(card.allocate(words.size() * sizeof(uint32_t)));
    memory.back()->write(std::as_bytes(std::span(words)));
    arguments.push_back(argument(memory.back()->address()));
  }
  for (const uint32_t n : job.numbers) arguments.push_back(argument(n));
  program->launch(job.kernel, job.shape, arguments);
  std::vector<Words> after = job.buffers;
  for (size_t i = 0; i < after.size(); ++i)
    memory[i]->read(std::as_writable_bytes(std::span(after[i])));
  return after;
}

bool ours_refuses(Device& device, const std::string& text, const std::string& kernel) {
  try {
    device.load_text(text, Isa::ptx, "truth.ptx").kernel(kernel);
    return false;
  } catch (const Error&) {
    return true;
  }
}

std::vector<Words> on_ours(Device& device, const Job& job) {
  const Kernel kernel = device.load_text(job.text, Isa::ptx, "truth.ptx").kernel(job.kernel);
  std::vector<Buffer> buffers;
  std::vector<Arg> arguments;
  for (const Words& words : job.buffers) {
    buffers.push_back(device.buffer(words));
    arguments.emplace_back(buffers.back());
  }
  for (const uint32_t n : job.numbers) arguments.emplace_back(n);
  const auto dim = [](const uint32_t(&d)[3]) { return Dim3{d[0], d[1], d[2]}; };
  LaunchOptions options{.grid = dim(job.shape.grid), .block = dim(job.shape.block)};
  options.dynamic_shared = job.shape.shared;
  options.memcheck = Memcheck::off;
  kernel.launch(options, arguments).check();
  std::vector<Words> after;
  after.reserve(buffers.size());
  for (const Buffer& b : buffers) after.push_back(b.read<uint32_t>());
  return after;
}

}  // namespace lanewise::truth
