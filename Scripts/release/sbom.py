#!/usr/bin/env python3
"""Writes the list of what a release is made of, as CycloneDX 1.6 in JSON (a software bill of materials).

    sbom.py VERSION PROGRAM MODULE OUTPUT

It has three kinds of parts:

- what is linked into the programs: the Swift packages with their copy of BoringSSL, and the runtimes of Swift and C++;
- the C libraries that the programs need to start;
- the C libraries that they load when a task needs them, as optional parts.

Versions of C libraries are those of the Debian packages on this machine. cyclonedx-python-lib makes the document and
checks it against CycloneDX's schema.
"""

import datetime
import glob
import json
import os
import re
import subprocess
import sys
import uuid

from cyclonedx.model import Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def packages():
    """The Swift packages of the programs, each once."""
    found, rest = {}, json.loads(output("swift", "package", "show-dependencies", "--format", "json"))["dependencies"]
    while rest:
        package = rest.pop()
        rest += package["dependencies"]
        found[package["identity"]] = package
    return [found[name] for name in sorted(found)]


def swift_component(package):
    owner, name = re.sub(r"\.git$", "", package["url"]).split("/")[-2:]
    return Component(
        type=ComponentType.LIBRARY, name=package["name"], version=package["version"],
        bom_ref=f"swift:{package['identity']}",
        purl=PackageURL("swift", f"github.com/{owner}", name, package["version"]))


def debian_package(library):
    """The package that a shared library comes from, with its version."""
    path = os.path.realpath(library)
    for name in (path, re.sub("^/usr", "", path), library):
        run = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if run.returncode == 0:
            package = run.stdout.split(":")[0]
            return package, output("dpkg-query", "-W", "-f", "${Version}", package)
    sys.exit(f"sbom: no Debian package has {path}: install what has it")


def linked(program):
    """The shared libraries that a program needs to start."""
    return sorted({path for path in re.findall(r"=> (/\S+)", output("ldd", program))})


def loaded_later():
    """The shared libraries that the sources load by name, if this machine has them."""
    names = set()
    for source in glob.glob(f"{ROOT}/Sources/**/*.swift", recursive=True):
        with open(source) as file:
            names.update(re.findall(r'"(lib[\w-]+\.so\.\d+)"', file.read()))
    known = dict(re.findall(r"^\s*(\S+) \(.*x86-64.*\) => (\S+)$", output("/sbin/ldconfig", "-p"), re.M))
    return sorted(known[name] for name in names if name in known), sorted(names - set(known))


def main():
    version, program, module, path = sys.argv[1:]
    bom = Bom(
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"swift-keychain@{version}"))
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct")), datetime.timezone.utc)
    whole = Component(
        type=ComponentType.APPLICATION, name="swift-keychain", version=version, bom_ref="swift-keychain",
        licenses=[LicenseExpression("Apache-2.0")])
    bom.metadata.component = whole
    parts = [swift_component(package) for package in packages()]
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))[1]
    parts.append(Component(
        type=ComponentType.LIBRARY, name="Swift standard library and Foundation", version=swift, bom_ref="swift:runtime",
        licenses=[LicenseExpression("Apache-2.0")]))
    hashes = glob.glob(f"{ROOT}/.build/checkouts/swift-crypto/Sources/CCryptoBoringSSL/hash.txt")
    if not hashes:
        sys.exit("sbom: swift-crypto does not say which BoringSSL it has a copy of")
    with open(hashes[0]) as file:
        commit = re.search(r"[0-9a-f]{40}", file.read())[0]
    parts.append(Component(
        type=ComponentType.LIBRARY, name="BoringSSL", version=commit, bom_ref="boringssl",
        purl=PackageURL("generic", None, "boringssl", commit)))
    with open(f"{ROOT}/.build/checkouts/TOMLKit/Sources/CTOML/Sources/toml.hpp") as file:
        numbers = re.findall(r"#define TOML_LIB_(?:MAJOR|MINOR|PATCH)\s+(\d+)", file.read())
    parts.append(Component(
        type=ComponentType.LIBRARY, name="toml++", version=".".join(numbers[:3]), bom_ref="tomlplusplus",
        purl=PackageURL("github", "marzer", "tomlplusplus", "v" + ".".join(numbers[:3]))))
    scopes = {}
    runtime = output("clang", "-print-file-name=libstdc++.a").strip()
    scopes[debian_package(runtime)] = (ComponentScope.REQUIRED, {os.path.basename(runtime)})
    for library in linked(program) + linked(module):
        scopes.setdefault(debian_package(library), (ComponentScope.REQUIRED, set()))[1].add(os.path.basename(library))
    later, missing = loaded_later()
    for library in later:
        scopes.setdefault(debian_package(library), (ComponentScope.OPTIONAL, set()))[1].add(os.path.basename(library))
    if missing:
        print(f"sbom: not on this machine, and so not in the list: {', '.join(missing)}", file=sys.stderr)
    for (package, package_version), (scope, libraries) in sorted(scopes.items(), key=lambda entry: entry[0]):
        parts.append(Component(
            type=ComponentType.LIBRARY, name=package, version=package_version, bom_ref=f"deb:{package}", scope=scope,
            purl=PackageURL("deb", "debian", package, package_version),
            properties=[Property(name="swift-keychain:library", value=name) for name in sorted(libraries)]))
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(whole, parts)
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem:
        sys.exit(f"sbom: the list does not follow CycloneDX's schema: {problem}")
    with open(path, "w") as file:
        file.write(text + "\n")
    print(f"sbom: {len(parts)} parts in {path}")


main()
