"""The symbols of the public products, from the modules that the checks built."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECKS = f"{ROOT}/.build-checks"


def products():
    """The names of the libraries in the manifest."""
    with open(f"{ROOT}/Package.swift") as manifest:
        block = re.search(r"products: \[(.*?)\]\.map", manifest.read(), re.S)
    return re.findall(r'"(\w+)"', block[1])


def folder(module):
    found = glob.glob(f"{ROOT}/Sources/*/{module}")
    return found[0] if found else ""


def sources(module):
    return sorted(glob.glob(f"{folder(module)}/**/*.swift", recursive=True)) if folder(module) else []


def reexported(module):
    """The modules of this package that a program sees with the module, itself first."""
    found, rest = [], [module]
    while rest:
        name = rest.pop(0)
        if name in found or not folder(name):
            continue
        found.append(name)
        for path in sources(name):
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
    flags = [f"-fmodule-map-file={path}" for path in maps]
    for path in glob.glob(f"{ROOT}/Sources/*/*/include/module.modulemap"):
        flags += [f"-fmodule-map-file={path}", f"-I{os.path.dirname(path)}"]
    return [part for flag in flags for part in ("-Xcc", flag)]


def extract(modules, graphs, pool):
    """Writes the symbol graphs of each module into a folder of its own."""
    triple = json.loads(subprocess.check_output(["swift", "-print-target-info"]))["target"]["triple"]
    flags = c_modules()

    def one(module):
        os.makedirs(f"{graphs}/{module}")
        run = subprocess.run(
            ["swift-symbolgraph-extract", "-module-name", module, "-I", f"{CHECKS}/debug/Modules", "-target", triple,
             "-output-dir", f"{graphs}/{module}", "-minimum-access-level", "public", *flags],
            capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"docs: no symbols of {module}; is it built? `make docs` builds it.\n{run.stderr}")

    list(pool.map(one, modules))


def merge(product, graphs, output, rewrite):
    """Writes one graph, in which the symbols of the modules that the product re-exports are its own.

    `rewrite` changes the text of each doc comment. Returns the graph.
    """
    whole = None
    for module in reexported(product):
        with open(f"{graphs}/{module}/{module}.symbols.json") as file:
            graph = json.load(file)
        if whole is None:
            whole = graph
        else:
            whole["symbols"] += graph["symbols"]
            whole["relationships"] += graph["relationships"]
    for symbol in whole["symbols"]:
        for line in symbol.get("docComment", {}).get("lines", []):
            if "Documentation/" in line["text"]:
                line["text"] = rewrite(line["text"])
    os.makedirs(output)
    with open(f"{output}/{product}.symbols.json", "w") as file:
        json.dump(whole, file)
    for path in glob.glob(f"{graphs}/{product}/{product}@*.symbols.json"):
        shutil.copy(path, output)
    return whole
