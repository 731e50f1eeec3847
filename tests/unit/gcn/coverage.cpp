// The forms that public kernels use, most used first: with all up to a row supported, this share of
// the kernels is covered.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "runtime/isa/gcn/gcn.hpp"

using namespace lanewise;

namespace {

struct Used {
  std::string form;
  double percent;  ///< of the kernels that this form and those in front of it cover
};

std::vector<Used> used_forms(gcn::Gen gen) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/data/opcodes/" +
                     std::string(gcn::name(gen)) + ".tsv");
  REQUIRE(file.good());
  std::vector<Used> forms;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    forms.push_back({cells.at(1), std::stod(cells.at(4))});
  }
  return forms;
}

}  // namespace

TEST_CASE("gcn coverage: 99 % of the public kernels are made of forms that run") {
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8}) {
    const std::vector<Used> forms = used_forms(gen);
    CHECK(forms.size() > 240);
    double covered = 0;
    std::string missing;
    for (const Used& u : forms) {
      if (gcn::coverage_of(u.form, gen).state == gcn::FormState::unsupported) {
        missing = u.form;
        break;
      }
      covered = u.percent;
    }
    CAPTURE(missing);
    CHECK_MESSAGE(covered >= 99, gcn::name(gen));
  }
}
