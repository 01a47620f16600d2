#!/usr/bin/env python3
"""Builds the documentation of each public product with DocC, after a build of the package.

    catalogues.py [PRODUCT …]

A product's documentation is its catalogue (NAME.docc) with the doc comments of its module and of the modules that it
re-exports: those are what a program sees that imports the product. A link to a symbol that does not exist is an error;
a last catalogue with such a link shows that DocC finds it. Without DocC in the toolchain, the script ends with an error.
"""

import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECKS = f"{ROOT}/.build-checks"


def products():
    """The names of the libraries in the manifest that are written in Swift."""
    with open(f"{ROOT}/Package.swift") as manifest:
        block = re.search(r"products: \[(.*?)\]\.map", manifest.read(), re.S)
    return [name for name in re.findall(r'"(\w+)"', block[1]) if glob.glob(f"{folder(name)}/**/*.swift", recursive=True)]


def folder(module):
    found = glob.glob(f"{ROOT}/Sources/*/{module}")
    return found[0] if found else ""


def reexported(module):
    """The modules of this package that a program sees with the module, itself first."""
    found, rest = [], [module]
    while rest:
        name = rest.pop(0)
        if name in found or not folder(name):
            continue
        found.append(name)
        for path in sorted(glob.glob(f"{folder(name)}/**/*.swift", recursive=True)):
            with open(path) as source:
                rest += re.findall(r"^@_exported import (\w+)$", source.read(), re.M)
    return found


def c_modules():
    """The flags with which a module's imports of C modules are found."""
    maps = glob.glob(f"{CHECKS}/debug/*.build/module.modulemap") + glob.glob(f"{ROOT}/Sources/*/C*/module.modulemap")
    maps += [
        path for path in glob.glob(f"{CHECKS}/checkouts/*/Sources/*/**/module.modulemap", recursive=True)
        if "SQLCipher" not in path and "Cpp" not in path and not re.search(r"/(SQLiteCustom|CNIOBoringSSL)/", path)
    ]
    return [flag for path in maps for flag in ("-Xcc", f"-fmodule-map-file={path}")]


def extract(module, graphs, triple, flags):
    """Writes the symbol graphs of a module into a folder of its own."""
    os.makedirs(f"{graphs}/{module}")
    run = subprocess.run(
        ["swift-symbolgraph-extract", "-module-name", module, "-I", f"{CHECKS}/debug/Modules", "-target", triple,
         "-output-dir", f"{graphs}/{module}", "-minimum-access-level", "public", *flags],
        capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"catalogues: no symbols of {module}:\n{run.stderr}")


def merge(product, graphs, output):
    """Writes one graph, in which the symbols of the modules that the product re-exports are its own."""
    modules = reexported(product)
    whole = None
    for module in modules:
        with open(f"{graphs}/{module}/{module}.symbols.json") as file:
            graph = json.load(file)
        if whole is None:
            whole = graph
        else:
            whole["symbols"] += graph["symbols"]
            whole["relationships"] += graph["relationships"]
    os.makedirs(output)
    with open(f"{output}/{product}.symbols.json", "w") as file:
        json.dump(whole, file)
    for path in glob.glob(f"{graphs}/{product}/{product}@*.symbols.json"):
        shutil.copy(path, output)


def problems(product, work, catalogue):
    """The lines in which DocC says what is wrong with a product's documentation."""
    run = subprocess.run(
        ["docc", "convert", catalogue, "--additional-symbol-graph-dir", f"{work}/{product}",
         "--fallback-display-name", product, "--fallback-bundle-identifier", f"swift-keychain.{product}",
         "--output-path", tempfile.mkdtemp(dir=work), "--warnings-as-errors", "--ide-console-output",
         "--no-transform-for-static-hosting",
         # Doc comments here say in a sentence what parameters are, if their names do not.
         "--disable-parameters-and-returns-validation"],
        capture_output=True, text=True)
    lines = (run.stdout + run.stderr).splitlines()
    found = [line.replace(f"{ROOT}/", "") for line in lines if re.search(r": (error|warning): ", line)]
    return found or ([f"{product}: docc ended with {run.returncode}", *lines[-5:]] if run.returncode else [])


def main():
    for tool in ("docc", "swift-symbolgraph-extract"):
        if not shutil.which(tool):
            sys.exit(f"catalogues: the toolchain has no {tool}")
    names = sys.argv[1:] or products()
    triple = json.loads(subprocess.check_output(["swift", "-print-target-info"]))["target"]["triple"]
    flags = c_modules()
    # The archives are thousands of small files, which nobody reads.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        graphs = f"{work}/graphs"
        modules = sorted({module for name in names for module in reexported(name)})
        list(pool.map(lambda module: extract(module, graphs, triple, flags), modules))
        for name in names:
            merge(name, graphs, f"{work}/{name}")

        def build(name):
            return problems(name, work, f"{folder(name)}/{name}.docc")

        found = [line for lines in pool.map(build, names) for line in lines]
        planted = shutil.copytree(f"{folder(names[0])}/{names[0]}.docc", f"{work}/planted/{names[0]}.docc")
        with open(f"{planted}/{names[0]}.md", "a") as page:
            page.write("\n### Planted\n\n- ``NoSuchSymbol``\n")
        if not any("NoSuchSymbol" in line for line in problems(names[0], work, planted)):
            found.append("catalogues: DocC did not find a link to a symbol that does not exist")
    for line in dict.fromkeys(found):
        print(line)
    if found:
        sys.exit(1)
    print(f"catalogues: the documentation of {len(names)} products is built, and each of its links leads to a symbol")


main()
