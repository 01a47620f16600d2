"""The symbols of the public products, from the modules that the checks built."""

import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECKS = f"{ROOT}/.build-checks"


@functools.cache
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


def exports(module):
    """The modules of this package that a module re-exports itself."""
    found = []
    for path in sources(module):
        with open(path) as source:
            found += re.findall(r"^@_exported import (\w+)$", source.read(), re.M)
    return [name for name in found if folder(name)]


def reexported(module):
    """The modules of this package that a program sees with the module, itself first; and which of them it sees through
    another product."""
    found, through = [], set()
    rest = [(module, False)]
    while rest:
        name, is_through = rest.pop(0)
        if name in found:
            continue
        found.append(name)
        # A product that is another one under another name has all of that one.
        is_through = is_through or (name != module and name in products() and not is_alias(module, name))
        if is_through:
            through.add(name)
        rest += [(inner, is_through) for inner in exports(name)]
    return found, through


def is_alias(module, other):
    """Whether the sources of a product do nothing but re-export the other one, and modules of other packages."""
    lines = [line for path in sources(module) for line in open(path) if line.strip() and not line.startswith("//")]
    return other in exports(module) and all(line.startswith("@_exported import ") for line in lines)


def c_modules():
    """The flags with which a module's imports of C modules are found."""
    maps = glob.glob(f"{CHECKS}/debug/*.build/module.modulemap") + glob.glob(f"{ROOT}/Sources/*/C*/module.modulemap")
    # SwiftPM makes a map of its own for some packages that bring one.
    made = {os.path.basename(os.path.dirname(path)).removesuffix(".build") for path in maps}
    maps += [
        path for path in glob.glob(f"{CHECKS}/checkouts/*/Sources/*/**/module.modulemap", recursive=True)
        if "SQLCipher" not in path and "Cpp" not in path and not re.search(r"/(SQLiteCustom|CNIOBoringSSL)/", path)
        and not made & set(re.findall(r"^\s*(?:framework )?module (\w+)", open(path).read(), re.M))
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
             "-output-dir", f"{graphs}/{module}", "-minimum-access-level", "public", "-emit-extension-block-symbols",
             "-skip-synthesized-members", *flags],
            capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"docs: no symbols of {module}; is it built? `make docs` builds it.\n{run.stderr}")

    list(pool.map(one, modules))


def named(text):
    """The first parts of the links to symbols in a text: each part of a path may be one, after a module's name."""
    return {part for link in re.findall(r"``([^`]+)``", text) for part in link.split("/")}


def comment(symbol):
    return "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))


def load(module, graphs):
    """The graph of a module, with its extensions of types of this package among the members of those types."""
    with open(f"{graphs}/{module}/{module}.symbols.json") as file:
        whole = json.load(file)
    for path in glob.glob(f"{graphs}/{module}/{module}@*.symbols.json"):
        if not folder(re.search(r"@(\w+)\.", path)[1]):
            continue
        with open(path) as file:
            graph = json.load(file)
        types = {arrow["source"]: arrow["target"] for arrow in graph["relationships"] if arrow["kind"] == "extensionTo"}
        whole["symbols"] += [symbol for symbol in graph["symbols"] if symbol["kind"]["identifier"] != "swift.extension"]
        for arrow in graph["relationships"]:
            if arrow["kind"] != "extensionTo":
                place = "target" if arrow["kind"] == "memberOf" else "source"
                whole["relationships"].append({**arrow, place: types.get(arrow[place], arrow[place])})
    return whole


def merge(product, graphs, output, rewrite):
    """Writes one graph, with the symbols of a product and of the modules that it re-exports, as if they were its own.

    Of a module that is seen through another product, it has only what the texts name: the rest is on that product's
    page. `rewrite` changes the text of each doc comment. Returns the graph.
    """
    modules, through = reexported(product)
    loaded = {module: load(module, graphs) for module in modules}
    whole = loaded[product]
    for module in modules[1:]:
        if module not in through:
            whole["symbols"] += loaded[module]["symbols"]
            whole["relationships"] += loaded[module]["relationships"]
    # What the texts name may name more.
    with open(f"{folder(product)}/{product}.docc/{product}.md") as sign:
        wanted = named(sign.read()).union(*(named(comment(symbol)) for symbol in whole["symbols"]))
    rest = [symbol for module in modules if module in through for symbol in loaded[module]["symbols"]]
    added = True
    while added:
        added = [symbol for symbol in rest if symbol["pathComponents"][0] in wanted]
        rest = [symbol for symbol in rest if symbol["pathComponents"][0] not in wanted]
        whole["symbols"] += added
        wanted = wanted.union(*(named(comment(symbol)) for symbol in added))
    there = {symbol["identifier"]["precise"] for symbol in whole["symbols"]}
    for module in through:
        whole["relationships"] += [arrow for arrow in loaded[module]["relationships"] if arrow["source"] in there]
    for symbol in whole["symbols"]:
        for line in symbol.get("docComment", {}).get("lines", []):
            if "Documentation/" in line["text"]:
                line["text"] = rewrite(line["text"])
    os.makedirs(output)
    with open(f"{output}/{product}.symbols.json", "w") as file:
        json.dump(whole, file)
    # Extensions of types of other packages have pages of their own.
    for path in glob.glob(f"{graphs}/{product}/{product}@*.symbols.json"):
        if not folder(re.search(r"@(\w+)\.", path)[1]):
            shutil.copy(path, output)
    return whole
