#!/usr/bin/env python3
"""Checks a built site: its links, and a visit by Chromium over a local server.

    visit.py SITE [--base /PATH] [--pictures FOLDER]
"""

import argparse
import contextlib
import functools
import glob
import http.server
import json
import os
import sys
import tempfile
import threading

from browser import Browser, Failure
from guides import NAME

PHONE = 375
# In a site without a file for each page, what stands for all of them.
APP = "app.html"


# MARK: - Links

def walk(value):
    """Every object of a page's data."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner)


def broken_links(site):
    """The links, pictures and headings that the data of a page names and the site does not have."""
    found, anchors, wanted = [], {}, []
    for path in glob.glob(f"{site}/data/**/*.json", recursive=True):
        page = path.removeprefix(f"{site}/data").removesuffix(".json")
        with open(path) as file:
            data = json.load(file)
        anchors[page] = {part["anchor"] for part in walk(data.get("primaryContentSections", [])) if "anchor" in part}
        for reference in data.get("references", {}).values():
            if reference.get("type") == "image":
                wanted += [(page, variant["url"], True) for variant in reference["variants"]]
            elif reference.get("url", "").startswith(("/", "#")):
                wanted.append((page, reference["url"], False))
    # What DocC makes for every page: headings that the renderer adds, and the page of all.
    given = {"overview", "discussion", "topics", "return-value", "parameters", "see-also", "app-main", "mentions"}
    for page, url, is_file in wanted:
        target, _, anchor = url.partition("#")
        if is_file:
            if not os.path.exists(f"{site}{target}"):
                found.append(f"{page}: there is no {target}")
        elif (target := (target.rstrip("/") or page)) not in anchors:
            found.append(f"{page}: the link to {url} leads nowhere")
        elif anchor and anchor.lower() not in given and anchor not in anchors[target]:
            found.append(f"{page}: the link to {url} leads to no heading")
    # The list at the side, and what the search finds.
    with open(f"{site}/index/index.json") as file:
        index = json.load(file)
    for node in walk(index["interfaceLanguages"]):
        if node.get("path") and node["path"] not in anchors:
            found.append(f"the list of pages: there is no {node['path']}")
    return found, len(anchors), len(wanted)


def blind():
    """What is wrong if a site with a missing page, heading, picture and entry of the list passes."""
    with tempfile.TemporaryDirectory() as site:
        os.makedirs(f"{site}/data/documentation")
        os.makedirs(f"{site}/index")
        references = {
            "page": {"url": "/documentation/nowhere"}, "heading": {"url": "#nothing"},
            "image": {"type": "image", "variants": [{"url": "/images/none.png"}]},
            "right": {"url": "/documentation/here#heading"}}
        with open(f"{site}/data/documentation/here.json", "w") as file:
            json.dump({"primaryContentSections": [{"anchor": "heading"}], "references": references}, file)
        with open(f"{site}/index/index.json", "w") as file:
            json.dump({"interfaceLanguages": {"swift": [{"path": "/documentation/gone"}]}}, file)
        found, _, _ = broken_links(site)
    return [] if len(found) == 4 else [f"the check of links found {found} in a site with four mistakes"]


# MARK: - Visit

class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        # Chromium ends connections when it leaves a page.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


class Handler(http.server.SimpleHTTPRequestHandler):
    base = ""

    def translate_path(self, path):
        if not path.startswith(f"{self.base}/"):
            return "/nonexistent"
        found = super().translate_path(path[len(self.base):])
        app = os.path.join(self.directory, APP)
        is_page = path.startswith(f"{self.base}/documentation/") and not os.path.exists(found)
        return app if is_page and os.path.exists(app) else found

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(site, base):
    """Serves the site as a host would: files, and nothing for paths that are none."""
    handler = functools.partial(type("Handler", (Handler,), {"base": base}), directory=site)
    with Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{base}"
        server.shutdown()


GUIDES = (f"documentation/{NAME}/use-swift", f"documentation/{NAME}/operate-daemon")
PAGES = ("documentation", "documentation/keychain", "documentation/keychain/keychain", *GUIDES)
# A box that scrolls by itself, such as a wide table, does not make the page wide.
IS_NARROW = "document.scrollingElement.scrollWidth <= innerWidth"


def visit(site, base, pictures):
    """What is wrong with the site in a browser."""
    found = []

    def expect(condition, problem):
        if not condition:
            found.append(problem)

    with served(site, base) as root, contextlib.closing(Browser()) as browser:
        def picture(name):
            if pictures:
                browser.picture(f"{pictures}/{name}.png")

        browser.width(1280)
        browser.colors("light")
        browser.open(f"{root}/", f"location.pathname.endsWith('/{NAME}/') && document.querySelector('h1')")
        title = browser.value("document.querySelector('h1').innerText").strip()
        expect(title == NAME, f"the first page has the title {title}")
        browser.wait("document.querySelector('.navigator-card')")
        picture("front")
        for page in PAGES:
            browser.open(f"{root}/{page}/", "document.querySelector('h1') && document.querySelector('main')")
            expect(not browser.value("document.body.innerText.includes('can’t be found')"), f"{page} is not there")
            picture(page.replace("/", "-"))

        # Search, from the last page to a symbol of a product.
        browser.key("/")
        browser.wait("document.querySelector('.quick-navigation__container, .quick-navigation input')")
        browser.type("KeychainItem")
        browser.wait("document.querySelectorAll('.quick-navigation__reference').length > 0")
        picture("search")
        browser.value("document.querySelector('.quick-navigation__reference').click()")
        browser.wait("location.pathname.includes('keychainitem')")

        for scheme in ("light", "dark"):
            browser.colors(scheme)
            browser.width(PHONE, mobile=True)
            for page in (f"documentation/{NAME}", *GUIDES):
                browser.open(f"{root}/{page}/", "document.querySelector('h1') && document.querySelector('main')")
                browser.wait("document.fonts.status == 'loaded'")
                expect(browser.value(IS_NARROW), f"{page} scrolls to the side at {PHONE} pixels")
                background = browser.value(
                    "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")
                expect((sum(background) < 3 * 64) == (scheme == "dark"), f"{page} is not {scheme}")
                picture(f"{page.replace('/', '-')}-{scheme}-phone")
        browser.width(1280)
        browser.open(f"{root}/{GUIDES[0]}/", "document.querySelector('h1')")
        picture("guide-dark")
        found += [f"a page has an error: {problem}" for problem in browser.problems]
    return found


def check(site, base="", pictures=None):
    """What is wrong with a site, and what was checked."""
    found, pages, links = broken_links(site)
    found += blind()
    if pages < 1000:
        found.append(f"the site has only {pages} pages")
    try:
        found += visit(site, base, pictures)
    except Failure as failure:
        found.append(f"the visit: {failure}")
    return found, f"{links} links of {pages} pages lead somewhere, and Chromium has no complaint"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("site")
    parser.add_argument("--base", default="")
    parser.add_argument("--pictures")
    options = parser.parse_args()
    problems, summary = check(options.site, options.base, options.pictures)
    print("\n".join(f"docs: {problem}" for problem in problems) or f"docs: {summary}")
    sys.exit(1 if problems else 0)
