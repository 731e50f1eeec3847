// Programs as a part of the conformance suite.
#pragma once

#include "tests/fuzz/programs/harness/campaign.hpp"

namespace lanewise::programs {

/// FOLDER/ISA_programs.lw with CampaignOptions::programs programs, chosen so that each construct
/// is in some of them.
void export_scripts(const InstructionSet& set, const CampaignOptions& options,
                    const std::string& folder);

}  // namespace lanewise::programs
