// Fields to bytes and back in the numbers of the trace format. A function that takes one of these
// is written once for both directions.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/trace/items.hpp"

namespace lanewise::trace {

class FieldsOut {
 public:
  explicit FieldsOut(Put& put) : put_(put) {}
  template <class T>
  void u(const T& value) {
    put_.u(static_cast<uint64_t>(value));
  }
  template <class T>
  void below(const T& value, uint64_t /*limit*/, const char* /*what*/) {
    u(value);
  }
  template <class E>
  void one_of(const E& value, E /*last*/, const char* /*what*/) {
    u(value);
  }
  void text(const std::string& text) { put_.text(text); }
  void flags(std::initializer_list<const bool*> all, const char* /*what*/) {
    uint64_t bits = 0;
    unsigned at = 0;
    for (const bool* b : all) bits |= static_cast<uint64_t>(*b) << at++;
    u(bits);
  }
  template <class List, class F>
  void list(List& all, F each) {
    u(all.size());
    for (auto& x : all) each(x);
  }
  void item(const Kernel& k) { put_kernel(put_, k); }
  void item(const Site& s) { put_site(put_, s); }
  void item(const Buffer& b) { put_buffer(put_, b); }

 private:
  Put& put_;
};

class FieldsIn {
 public:
  explicit FieldsIn(Take& take) : take_(take) {}
  template <class T>
  void u(T& value) {
    value = static_cast<T>(take_.u());
  }
  template <class T>
  void below(T& value, uint64_t limit, const char* what) {
    value = static_cast<T>(take_.below(limit, what));
  }
  template <class E>
  void one_of(E& value, E last, const char* what) {
    value = take_.one_of(last, what);
  }
  void text(std::string& text) { text = take_.text(); }
  void flags(std::initializer_list<bool*> all, const char* what) {
    const uint64_t bits = take_.below(uint64_t{1} << all.size(), what);
    unsigned at = 0;
    for (bool* b : all) *b = (bits >> at++ & 1) != 0;
  }
  template <class T, class F>
  void list(std::vector<T>& all, F each) {
    all.clear();
    for (size_t n = take_.count(); n != 0; --n) each(all.emplace_back());
  }
  void item(Kernel& k) { k = (kind(Item::kernel), take_kernel(take_)); }
  void item(Site& s) { s = (kind(Item::site), take_site(take_)); }
  void item(Buffer& b) { b = (kind(Item::buffer), take_buffer(take_)); }

 private:
  void kind(Item expected) {
    if (take_.byte() != static_cast<uint8_t>(expected))
      Take::fail("holds another item than was expected");
  }
  Take& take_;
};

}  // namespace lanewise::trace
