// The statements about caches.
#include "runtime/script/language/cache_names.hpp"
#include "runtime/script/language/parser.hpp"

namespace lanewise::script {

/// cache "PRESET" [exact]
CacheSetting Parser::cache_setting() {
  CacheSetting s;
  s.loc = lex_->peek().loc;
  s.preset = lex_->expect_text("the \"preset\" of a GPU");
  s.exact = lex_->take_word("exact");
  return s;
}

/// expect cache finding "RULE" == EXPR, or expect cache LEVEL and what cache_state reads
void Parser::expect_cache(Case& c, Loc loc) {
  ExpectCache e;
  e.loc = loc;
  if (c.cache.preset.empty())
    fail(loc, "no caches are watched: cache \"PRESET\" must stand in front");
  const Loc level_loc = lex_->peek().loc;
  e.cache = lex_->expect_word("a cache, such as l1, or finding");
  if (e.cache == "finding") {
    e.what = ExpectCache::What::finding;
    e.name = lex_->expect_text("a \"rule\", such as \"H1\"");
  } else {
    cache_named(e.cache, level_loc);
    cache_state(e);
  }
  if (e.what != ExpectCache::What::holds && e.what != ExpectCache::What::lacks) {
    lex_->expect_symbol("==", "and the expected count");
    e.value = parse_expr(*lex_);
  }
  c.steps.emplace_back(std::move(e));
}

/// COUNT, or [sm N] (valid_bytes | dirty_bytes) "[" [local] EXPR "]", or
/// [sm N] (holds | lacks) [local] EXPR [dirty | clean]
void Parser::cache_state(ExpectCache& e) {
  const Loc sm_loc = lex_->peek().loc;
  if (lex_->take_word("sm")) e.sm = static_cast<uint32_t>(number("an SM", 0, 1023));
  const Loc name_loc = lex_->peek().loc;
  e.name = lex_->expect_word("a count, valid_bytes, dirty_bytes, holds or lacks");
  using What = ExpectCache::What;
  e.what = e.name == "holds"         ? What::holds
           : e.name == "lacks"       ? What::lacks
           : e.name == "valid_bytes" ? What::valid_bytes
           : e.name == "dirty_bytes" ? What::dirty_bytes
                                     : What::count;
  if (e.what == What::count) {
    counter_named(e.name, name_loc);
    if (e.sm) fail(sm_loc, "counts are those of all SMs; only line states are distinguished by sm");
    return;
  }
  const bool bytes = e.what == What::valid_bytes || e.what == What::dirty_bytes;
  if (bytes) lex_->expect_symbol("[", "in front of the address");
  e.local = lex_->take_word("local");
  e.address = parse_expr(*lex_);
  if (bytes) lex_->expect_symbol("]", "behind the address");
  if (e.what != What::holds) return;
  if (lex_->take_word("dirty"))
    e.dirty = true;
  else if (lex_->take_word("clean"))
    e.dirty = false;
}

}  // namespace lanewise::script
