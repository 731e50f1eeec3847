# D3 5, which draws the HTML report; its text and its licence (BSD-3-Clause) become part of the page. Debian: node-d3.
find_file(LANEWISE_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3
  DOC "d3.min.js, version 5")
find_file(LANEWISE_D3_LICENSE NAMES copyright LICENSE PATHS /usr/share/doc/node-d3 NO_DEFAULT_PATH
  DOC "the licence of d3.min.js")
if(NOT LANEWISE_D3 OR NOT LANEWISE_D3_LICENSE)
  message(FATAL_ERROR "D3 was not found, which draws the HTML report. Install Debian's package node-d3 "
    "(apt install node-d3), or say where it is: -DLANEWISE_D3=.../d3.min.js -DLANEWISE_D3_LICENSE=.../LICENSE")
endif()
file(STRINGS ${LANEWISE_D3} d3_version LIMIT_COUNT 1 REGEX "d3js.org v5[.]")
if(NOT d3_version)
  message(FATAL_ERROR "${LANEWISE_D3} is not version 5 of D3, which the HTML report is written for "
    "(Debian 12: node-d3)")
endif()
