#!/usr/bin/env python3
"""Builds the documentation with DocC, after a build of the package: all public products and all guides.

    site.py [--base /PATH] [--source URL] [--output FOLDER]   the site
    site.py --check                                           whether everything is right, also in a browser (visit.py)

A product's documentation is its catalogue (NAME.docc) with the doc comments of its module and of the modules that it
re-exports (symbols.py): a program that imports the product sees all of them. The guides are the pages in Documentation
and the first pages of the repository (guides.py). A link to a symbol, page, heading or file that does not exist is an
error. --check also builds a catalogue with such a link, to show that DocC finds it. Without DocC in the toolchain, the
script ends with an error.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import guides
import symbols
import visit
from symbols import ROOT

FRONT = guides.NAME


def pages():
    """The pages that become articles."""
    found = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    for pattern in ("Documentation/**/*.md", "Examples/*/README.md", "Benchmarks/*.md"):
        found += sorted(os.path.relpath(path, ROOT) for path in glob.glob(f"{ROOT}/{pattern}", recursive=True))
    found.remove(guides.LIST)
    return found


def addresses(graphs):
    """Where each symbol is that a page can name in code, by that name; none that is overloaded."""
    found, seen = {}, set()
    for product, graph in graphs.items():
        places = {}
        for symbol in graph["symbols"]:
            places.setdefault(tuple(symbol["pathComponents"]), []).append(symbol)
        short = {}
        for path, overloads in places.items():
            name = ".".join(path)
            if len(overloads) == 1 and overloads[0]["identifier"]["precise"] not in seen:
                seen.add(overloads[0]["identifier"]["precise"])
                address = f"doc:/{product}/{'/'.join(path)}"
                found.setdefault(name, address)
                short.setdefault(name.split("(")[0], set()).add(address)
        for name, found_addresses in short.items():
            if len(found_addresses) == 1:
                found.setdefault(name, min(found_addresses))
    for product in graphs:
        found[product] = f"doc:/{product}"
    return found


def foreign(graphs):
    """The top-level symbols of each product that another one before it has too, because both re-export them."""
    found, seen = {}, {}
    for product, graph in graphs.items():
        for symbol in graph["symbols"]:
            if len(symbol["pathComponents"]) == 1:
                home = seen.setdefault(symbol["identifier"]["precise"], product)
                if home != product:
                    found.setdefault(product, set()).add(symbol["pathComponents"][0].lower())
    return found


class Builder:
    def __init__(self, options, names, work, pool):
        self.options, self.names, self.work, self.pool = options, names, work, pool
        self.guides, self.foreign = guides.Guides(pages(), names, {}, options.source), {}
        os.makedirs(f"{work}/archives")

    def tell(self, what):
        """Shows that the work goes on."""
        if not self.options.check:
            print(f"docs: {what}", flush=True)

    def graphs(self):
        self.tell("reading the symbols")
        modules = sorted({module for name in self.names for module in symbols.reexported(name)[0]})
        symbols.extract(modules, f"{self.work}/graphs", self.pool)
        rewrite = lambda text: self.guides.sign(text, "a doc comment")
        return {
            name: symbols.merge(name, f"{self.work}/graphs", f"{self.work}/{name}", rewrite) for name in self.names}

    def catalogue(self, name):
        """A copy of a product's catalogue, in which the pages that it names are links."""
        copy = shutil.copytree(f"{symbols.folder(name)}/{name}.docc", f"{self.work}/catalogues/{name}.docc")
        for path in glob.glob(f"{copy}/**/*.md", recursive=True):
            with open(path) as file:
                text = file.read()
            with open(path, "w") as file:
                file.write(self.guides.sign(text, path.replace(f"{self.work}/catalogues/", "")))
        return copy

    def convert(self, name, catalogue, *more):
        """Builds one archive, and returns the lines in which DocC says what is wrong."""
        hosting = ["--hosting-base-path", self.options.base] if self.options.base else []
        if self.options.check:
            # The check's own server answers for the pages, without ten thousand files that are all the same.
            hosting = ["--no-transform-for-static-hosting"]
        run = subprocess.run(
            ["docc", "convert", catalogue, "--output-path", self.archive(os.path.basename(catalogue)), *more, *hosting,
             "--warnings-as-errors", "--ide-console-output", "--enable-experimental-external-link-support",
             # Doc comments here say in a sentence what parameters are, if their names do not.
             "--disable-parameters-and-returns-validation"],
            capture_output=True, text=True)
        lines = (run.stdout + run.stderr).splitlines()
        found = [line for line in lines if re.search(r": (error|warning): ", line)]
        return found or ([f"{name}: docc ended with {run.returncode}", *lines[-5:]] if run.returncode else [])

    def archive(self, catalogue):
        return f"{self.work}/archives/{catalogue.removesuffix('.docc')}.doccarchive"

    def product(self, name, catalogue=None):
        self.tell(name)
        lines = self.convert(
            name, catalogue or self.catalogue(name), "--additional-symbol-graph-dir", f"{self.work}/{name}",
            "--fallback-display-name", name, "--fallback-bundle-identifier", f"{FRONT}.{name}",
            "--fallback-default-module-kind", "Library")
        where = f"{symbols.folder(name)}/{name}.docc".replace(f"{ROOT}/", "")
        return [line.replace(f"{self.work}/catalogues/{name}.docc", where).replace(f"{ROOT}/", "") for line in lines]

    def planted(self):
        """What is wrong if DocC does not find a link to a symbol that does not exist."""
        name = self.names[0]
        planted = shutil.copytree(f"{symbols.folder(name)}/{name}.docc", f"{self.work}/planted/planted.docc")
        with open(f"{planted}/{name}.md", "a") as page:
            page.write("\n### Planted\n\n- ``NoSuchSymbol``\n")
        if any("NoSuchSymbol" in line for line in self.product(name, planted)):
            return []
        return ["docs: DocC did not find a link to a symbol that does not exist"]

    def articles(self):
        """Builds the archive of the guides, whose links to symbols lead into those of the products."""
        self.tell("the guides")
        catalogue = f"{self.work}/catalogues/{FRONT}.docc"
        found, names = self.guides.write(catalogue)
        if found:
            return found
        dependencies = [part for name in self.names for part in ("--dependency", self.archive(name))]
        lines = self.convert(
            "the guides", catalogue, "--fallback-display-name", FRONT, "--fallback-bundle-identifier", FRONT,
            "--fallback-default-module-kind", "Package", "--default-code-listing-language", "sh", *dependencies)
        return [
            re.sub(rf"^{re.escape(catalogue)}/([^:]+)", lambda match: names.get(match[1], match[0]), line)
            for line in lines]

    def merge(self):
        """Writes the site: all archives together."""
        self.tell("the site")
        output = self.options.output
        shutil.rmtree(output, ignore_errors=True)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        run = subprocess.run(
            ["docc", "merge", self.archive(FRONT), *(self.archive(name) for name in self.names), "--output-path",
             output, "--synthesized-landing-page-name", FRONT], capture_output=True, text=True)
        if run.returncode:
            return [f"docs: docc could not merge the archives:\n{run.stdout}{run.stderr}"]
        self.join_lists(f"{output}/index/index.json")
        with open(f"{output}/theme-settings.json", "w") as file:
            json.dump({"features": {"docs": {"quickNavigation": {"enable": True}}}}, file)
        front = f"{self.options.base}/documentation/{FRONT}/"
        if self.options.check:
            os.rename(f"{output}/index.html", f"{output}/{visit.APP}")
            os.makedirs(f"{output}/documentation")
        for page in (f"{output}/index.html", f"{output}/documentation/index.html"):
            with open(page, "w") as file:
                file.write(f'<!doctype html>\n<meta charset="utf-8">\n<title>{FRONT}</title>\n'
                           f'<meta http-equiv="refresh" content="0; url={front}">\n<a href="{front}">{FRONT}</a>\n')
        return []

    def join_lists(self, path):
        """Makes one tree of the lists of all archives, which every page has at its side and the search goes through.

        DocC's renderer takes each node of the type `module` as a tree of its own, with a search of its own. So there is
        one such node, the first page, and the products are where it lists them.
        """
        with open(path) as file:
            index = json.load(file)
        (root,) = index["interfaceLanguages"]["swift"]
        trees = {node["path"]: node for node in root["children"]}
        front = trees[f"/documentation/{FRONT}"]

        def placed(node):
            product = trees.get(node.get("path"))
            if not product:
                return node
            # The search finds a symbol once: where the first product has it. The others' pages show it, too.
            elsewhere = self.foreign.get(product["title"], set())
            children = [
                child for child in product.get("children", [])
                if child.get("path", "").rsplit("/", 1)[-1] not in elsewhere]
            kept = [
                child for child, after in zip(children, [*children[1:], {"type": "groupMarker"}])
                if child["type"] != "groupMarker" or after["type"] != "groupMarker"]
            return {**product, "type": "collection", "children": kept}

        front["children"] = [placed(node) for node in front["children"]]
        index["interfaceLanguages"] = {"swift": [front]}
        with open(path, "w") as file:
            json.dump(index, file)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--base", default="", help="the path of the site at its host, such as /swift-keychain")
    parser.add_argument(
        "--source", default="", help="the address of the sources, such as https://host/owner/name/blob/main")
    parser.add_argument("--output", default=f"{ROOT}/.build-docs/site")
    options = parser.parse_args()
    options.base = "/" + options.base.strip("/") if options.base.strip("/") else ""
    options.source = options.source.rstrip("/")
    options.output = os.path.abspath(options.output)
    return options


def main():
    for tool in ("docc", "swift-symbolgraph-extract"):
        if not shutil.which(tool):
            sys.exit(f"docs: the toolchain has no {tool}")
    options = parse()
    # In the order in which the first page lists them.
    first = guides.text_of("README.md").split("\n## Products", 1)[-1]
    names = sorted(symbols.products(), key=lambda name: first.find(f"`{name}`") % (1 << 30))
    # The archives are thousands of small files.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        builder = Builder(options, names, work, pool)
        graphs = builder.graphs()
        builder.guides.links, builder.foreign = addresses(graphs), foreign(graphs)
        planted = pool.submit(builder.planted) if options.check else None
        found = [line for lines in pool.map(builder.product, names) for line in lines]
        found += planted.result() if planted else []
        found += builder.articles()
        if options.check:
            options.output = f"{work}/site"
        found = found or builder.merge()
        summary = ""
        if options.check and not found:
            found, summary = visit.check(options.output, options.base)
    for line in dict.fromkeys(found):
        print(line)
    if found:
        sys.exit(1)
    print(f"docs: the pages of {len(names)} products and {len(builder.guides.pages)} guides are built; {summary}"
          if options.check else
          f"docs: the site is in {os.path.relpath(options.output)}; to look at it:\n\n    {how_to_look(options)}\n")


def how_to_look(options):
    """The commands that serve the site on this machine."""
    if not options.base:
        return f"python3 -m http.server 8000 --directory {os.path.relpath(options.output)}   # http://localhost:8000"
    # A host serves it under its path; a link gives it that path here.
    link = f".build-docs/host{options.base}"
    return (f'mkdir -p {os.path.dirname(link)} && ln -sfn "$PWD/{os.path.relpath(options.output)}" {link}\n'
            f"    python3 -m http.server 8000 --directory .build-docs/host   # http://localhost:8000{options.base}/")


try:
    main()
except guides.Problem as problem:
    sys.exit(str(problem))
