"""Strict readers of the formats in which findings and counters are written; they share nothing with the writer.

    formats.py sarif|junit|ncu FILE

SARIF: OASIS "Static Analysis Results Interchange Format" 2.1.0: of each object the properties that it may and must have
(section 3), their types, and what refers to what. JUnit: elements and attributes of Jenkins' and Ant's reports. ncu: the
columns of `ncu --csv --page details`. Prints one line for each result, case or value; ends with 1 at the first mistake.
"""

import csv
import json
import re
import sys
import xml.etree.ElementTree as xml


def fail(where, what):
    sys.exit(f"{where}: {what}")


# --- SARIF ---------------------------------------------------------------------------------------
# Object -> property -> type; "!" in front: required. A type: a Python type, a set of words, a range of
# integers, the name of an object, or a list of one of these.
COUNT, TEXT = range(1, 2**31), str
SARIF = {
    "sarifLog": {"$schema": TEXT, "!version": {"2.1.0"}, "!runs": ["run"], "inlineExternalProperties": list, "properties": dict},
    "run": {"!tool": "tool", "results": ["result"], "invocations": list, "artifacts": ["artifact"], "columnKind":
            {"utf16CodeUnits", "unicodeCodePoints"}, "originalUriBaseIds": dict, "baselineGuid": TEXT, "properties": dict},
    "tool": {"!driver": "toolComponent", "extensions": ["toolComponent"], "properties": dict},
    "toolComponent": {"!name": TEXT, "version": TEXT, "semanticVersion": TEXT, "informationUri": TEXT, "fullName": TEXT,
                      "organization": TEXT, "rules": ["reportingDescriptor"], "properties": dict},
    "reportingDescriptor": {"!id": TEXT, "name": TEXT, "shortDescription": "multiformatMessageString", "fullDescription":
                            "multiformatMessageString", "help": "multiformatMessageString", "helpUri": TEXT,
                            "defaultConfiguration": dict, "properties": dict},
    "multiformatMessageString": {"!text": TEXT, "markdown": TEXT, "properties": dict},
    "result": {"!message": "message", "ruleId": TEXT, "ruleIndex": range(-1, 2**31), "level": {"none", "note", "warning", "error"},
               "kind": {"notApplicable", "pass", "fail", "review", "open", "informational"}, "locations": ["location"],
               "relatedLocations": ["location"], "codeFlows": ["codeFlow"], "occurrenceCount": COUNT,
               "partialFingerprints": dict, "fingerprints": dict, "baselineState": {"new", "unchanged", "updated", "absent"},
               "suppressions": ["suppression"], "rank": float, "properties": dict},
    "message": {"text": TEXT, "markdown": TEXT, "id": TEXT, "arguments": [TEXT], "properties": dict},
    "location": {"id": range(-1, 2**31), "physicalLocation": "physicalLocation", "logicalLocations": ["logicalLocation"],
                 "message": "message", "annotations": list, "relationships": list, "properties": dict},
    "physicalLocation": {"!artifactLocation": "artifactLocation", "region": "region", "contextRegion": "region", "properties": dict},
    "artifactLocation": {"uri": TEXT, "uriBaseId": TEXT, "index": range(-1, 2**31), "properties": dict},
    "artifact": {"location": "artifactLocation", "length": range(-1, 2**31), "roles": list, "properties": dict},
    "region": {"startLine": COUNT, "startColumn": COUNT, "endLine": COUNT, "endColumn": COUNT, "snippet": dict,
               "message": "message", "properties": dict},
    "logicalLocation": {"name": TEXT, "fullyQualifiedName": TEXT, "decoratedName": TEXT, "kind": TEXT, "properties": dict},
    "codeFlow": {"!threadFlows": ["threadFlow"], "message": "message", "properties": dict},
    "threadFlow": {"!locations": ["threadFlowLocation"], "id": TEXT, "message": "message", "properties": dict},
    "threadFlowLocation": {"location": "location", "executionOrder": range(-1, 2**31), "nestingLevel": range(2**31),
                           "importance": {"important", "essential", "unimportant"}, "properties": dict},
    "suppression": {"!kind": {"inSource", "external"}, "status": {"accepted", "underReview", "rejected"}, "justification": TEXT,
                    "location": "location", "properties": dict},
}
# Lists that must not be empty (minItems 1).
FULL = {"codeFlow.threadFlows", "threadFlow.locations"}
URI = re.compile(r"(%[0-9A-Fa-f]{2}|[A-Za-z0-9._~!$&'()*+,;=:@/?#\[\]-])*")


def check(value, kind, where):
    if isinstance(kind, list):
        if not isinstance(value, list):
            fail(where, "no list")
        for i, part in enumerate(value):
            check(part, kind[0], f"{where}[{i}]")
    elif isinstance(kind, str):
        check_object(value, kind, where)
    elif isinstance(kind, (set, range)):
        if isinstance(value, bool) or value not in kind:
            fail(where, f"{value!r} is no such value")
    elif not isinstance(value, kind):
        fail(where, f"{value!r} is no {kind.__name__}")


def check_object(value, name, where):
    if not isinstance(value, dict):
        fail(where, f"no {name}")
    known = SARIF[name]
    for key, part in value.items():
        kind = known.get(key, known.get("!" + key))
        if kind is None:
            fail(where, f"a {name} has no '{key}'")
        check(part, kind, f"{where}.{key}")
        if f"{name}.{key}" in FULL and not part:
            fail(where, f"'{key}' is empty")
        if key in ("uri", "informationUri", "helpUri", "$schema") and not URI.fullmatch(part):
            fail(where, f"'{part}' is no URI")
    for key in known:
        if key.startswith("!") and key[1:] not in value:
            fail(where, f"a {name} needs '{key[1:]}'")
    if name == "message" and not ("text" in value or "id" in value):
        fail(where, "a message has a text or an id")


def sarif(path):
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    check_object(log, "sarifLog", "$")
    for run in log["runs"]:
        rules = run["tool"]["driver"].get("rules", [])
        ids = [rule["id"] for rule in rules]
        if len(set(ids)) != len(ids):
            fail("rules", "an id is there twice")
        for result in run.get("results", []):
            if ids[result["ruleIndex"]] != result["ruleId"]:
                fail(result["ruleId"], "its index is another rule's")
            flow = []
            for code_flow in result.get("codeFlows", []):
                steps = [step for thread in code_flow["threadFlows"] for step in thread["locations"]]
                if sorted(step["executionOrder"] for step in steps) != list(range(1, len(steps) + 1)):
                    fail(result["ruleId"], "the steps of a flow have no order")
                names = [thread.get("id") for thread in code_flow["threadFlows"]]
                if len(set(names)) != len(names):
                    fail(result["ruleId"], "two threads of a flow have one id")
                steps.sort(key=lambda step: step["executionOrder"])
                flow = [place(step["location"]) for step in steps]
            print(result["ruleId"], result.get("level", "warning"), place(result["locations"][0]), "<-".join(flow[:-1]) or "-")


def place(location):
    physical = location.get("physicalLocation")
    if physical is None:
        return "-"
    uri = physical["artifactLocation"]["uri"].split("/")[-1]
    return f"{uri}:{physical.get('region', {}).get('startLine', 0)}"


# --- JUnit ---------------------------------------------------------------------------------------
# Element -> attributes ("!": required), children.
JUNIT = {
    "testsuites": (("name", "tests", "failures", "errors", "skipped", "time", "disabled"), ("testsuite",)),
    "testsuite": (("!name", "!tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"),
                  ("properties", "testcase", "system-out", "system-err")),
    "testcase": (("!name", "!classname", "time", "assertions", "status", "file", "line"),
                 ("skipped", "error", "failure", "system-out", "system-err", "properties")),
    "failure": (("message", "type"), ()),
    "error": (("message", "type"), ()),
    "skipped": (("message",), ()),
}


def junit_element(element, where):
    attributes, children = JUNIT[element.tag]
    for name in element.attrib:
        if name not in attributes and "!" + name not in attributes:
            fail(where, f"<{element.tag}> has no attribute '{name}'")
    for name in attributes:
        if name.startswith("!") and name[1:] not in element.attrib:
            fail(where, f"<{element.tag}> needs '{name[1:]}'")
    for child in element:
        if child.tag not in children:
            fail(where, f"<{child.tag}> in <{element.tag}>")
        junit_element(child, f"{where}/{child.tag}")


def junit(path):
    root = xml.parse(path).getroot()
    if root.tag not in ("testsuites", "testsuite"):
        fail(path, f"<{root.tag}>")
    junit_element(root, root.tag)
    for suite in root.iter("testsuite"):
        for name, found in (("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped"),
                            ("errors", "testcase/error")):
            if int(suite.get(name, 0)) != len(suite.findall(found)):
                fail("testsuite", f"{name} is not their number")
        for case in suite.findall("testcase"):
            outcome = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
            if len(outcome) > 1:
                fail(case.get("name"), "several outcomes")
            print(case.get("classname"), case.get("name").split(" ")[0], case.get("name").split("/")[-1], *(outcome or ["passed"]))


# --- Nsight Compute ------------------------------------------------------------------------------
NCU = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size", "Device",
       "CC", "Section Name", "Metric Name", "Metric Unit", "Metric Value"]
METRIC = re.compile(r"(smsp|sm|l1tex|lts)__[a-z0-9_]+\.(sum|avg|min|max)")


def ncu(path):
    with open(path, encoding="utf-8", newline="") as file:
        first = file.readline().rstrip("\r\n")
        if first != ",".join(f'"{name}"' for name in NCU):
            fail(path, "other columns")
        file.seek(0)
        for number, row in enumerate(csv.reader(file, strict=True), 1):
            if len(row) != len(NCU):
                fail(f"line {number}", f"{len(row)} columns")
            if number == 1:
                continue
            at = dict(zip(NCU, row))
            for name in ("ID", "Process ID", "Context", "Stream", "Device"):
                if not at[name].isdigit():
                    fail(f"line {number}", f"{name} is '{at[name]}'")
            for name in ("Block Size", "Grid Size"):
                if not re.fullmatch(r"\(\d+, \d+, \d+\)", at[name]):
                    fail(f"line {number}", f"{name} is '{at[name]}'")
            if not re.fullmatch(r"(\d+\.\d+)?", at["CC"]):
                fail(f"line {number}", f"CC is '{at['CC']}'")
            if not METRIC.fullmatch(at["Metric Name"]):
                fail(f"line {number}", f"metric '{at['Metric Name']}'")
            value = at["Metric Value"]
            if not re.fullmatch(r"\d{1,3}(,\d{3})*|\d+", value):
                fail(f"line {number}", f"value '{value}'")
            print(at["Kernel Name"], at["Metric Name"], at["Metric Unit"] or "-", value.replace(",", ""))


if __name__ == "__main__":
    {"sarif": sarif, "junit": junit, "ncu": ncu}[sys.argv[1]](sys.argv[2])
