// What is followed beside a program's launches: the cache tracker and traces, the summary.
#pragma once

namespace lanewise::core {

class Context;
/// Before anything runs.
void start_observing(Context& context);
/// Writes reports, when the program ends.
void finish_observing(Context& context);

}  // namespace lanewise::core
