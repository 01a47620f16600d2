"""The guides of the site: the Markdown files of the repository, as a catalogue for DocC.

Nothing is written twice. A page stays a file that a code host shows, and its links are relative. Here each link becomes
one to the page's article, to a product's page, or to a source.
"""

import os
import re
import shutil

from symbols import ROOT

NAME = "swift-keychain"
LIST = "Documentation/README.md"


class Problem(Exception):
    pass


def text_of(path):
    with open(f"{ROOT}/{path}") as file:
        return file.read()


def article(path):
    """The name of a page's article: the folder is in it, because several folders have a page of the same name."""
    if path in ("README.md", LIST):
        return NAME
    parts = path.removesuffix(".md").removeprefix("Documentation/").split("/")
    if parts[-1] == "README":
        parts = parts[:-1]
    return "-".join(part for part in parts[-2:])


def slug(heading):
    """A heading as links on a code host name it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return "".join("-" if c == " " else c for c in words if c.isalnum() or c in " -_")


def fragment(heading):
    """A heading as DocC names it in links."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip()
    text = re.sub(r"[\s–—-]+", "-", text)
    return re.sub(r"[!\"#%&'()*,./:;?@\[\\\]_{}`¡§«¶·»¿‘’“”…′″]", "", text).strip("-")


def headings(text):
    prose = "".join(part for code, part in blocks(text) if not code)
    return re.findall(r"^#{1,6} +(.+)$", prose, re.M)


def title(text):
    return headings(text)[0].replace("`", "")


def blocks(text):
    """The parts of a page, each with whether it is a block of code."""
    found, code, fence = [[False, ""]], False, None
    blank = True
    for line in text.splitlines(keepends=True):
        mark = re.match(r" *(```+)", line)
        if fence:
            code = True
            if mark and mark[1] == fence:
                fence = None
        elif mark:
            code, fence = True, mark[1]
        else:
            code = line.startswith("    ") and (blank or code) or (code and blank and not line.strip())
            if not line.strip():
                code = False
        blank = not line.strip()
        if found[-1][0] != code:
            found.append([code, ""])
        found[-1][1] += line
    return found


PART = re.compile(
    r"(?P<image><img\s[^>]*>)"
    r"|(?P<picture>!)?\[(?P<label>(?:`[^`]*`|[^\]`])*)\]\((?P<target>[^()\s]+)\)"
    r"|(?P<code>``[^`]+``|`[^`]+`)")


class Guides:
    """All pages, where each of them is on the site, and what a code span means."""

    def __init__(self, pages, products, links, source):
        """
        pages: the paths of the pages. products: the names of the products. links: the address of a product's symbol by
        its name in code. source: the address of the sources at a host, or nothing.
        """
        self.pages, self.products, self.links, self.source = pages, products, links, source
        self.texts = {page: text_of(page) for page in pages}
        self.images = set()
        # A page that lists those of its own folder has them as its topics.
        self.inner = {
            page: [other for other in pages if other != page and other.startswith(f"{os.path.dirname(page)}/")]
            for page in pages if re.fullmatch(r"Documentation/.+/README\.md", page)}

    def page(self, path, start, label=None):
        """The address of the page at `path`, with a fragment, for an article."""
        target, _, heading = path.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(start), target)) if target else start
        if target in self.pages or target == LIST:
            address = f"doc:{article(target)}"
            if heading:
                names = [name for name in headings(self.texts[target]) if slug(name) == heading]
                if not names:
                    raise Problem(f"no heading #{heading} in {target}")
                address += f"#{fragment(names[0])}"
            return target, address
        return target, None

    def resolve(self, label, path, start, picture):
        if re.match(r"\w+:", path):
            return f"[{label}]({path})"
        target, address = self.page(path, start)
        if not os.path.exists(f"{ROOT}/{target}"):
            raise Problem(f"the link to {path} leads nowhere")
        if picture:
            return self.picture(label, target)
        if address:
            # The name of a file says less on the site than the page's title.
            if label.endswith(".md"):
                return f"<{address}>" if "#" not in address else f"[{title(self.texts[target])}]({address})"
            return f"[{label}]({address})"
        sign = re.fullmatch(r"Sources/[^/]+/(\w+)(/\1\.docc/\1\.md)?", target)
        if sign and sign[1] in self.products:
            return f"[{sign[1]}](doc:/{sign[1]})"
        if self.source:
            return f"[{label}]({self.source}/{target})"
        return label if "`" in label else f"{label} (`{target}`)" if label != target else f"`{target}`"

    def picture(self, label, target):
        self.images.add(target)
        return f"![{' '.join(label.split())}]({os.path.basename(target)})"

    def rewrite(self, page):
        """The text of the page's article, line by line that of the page, and what is wrong with it."""
        problems, linked = [], {article(page)}
        line = 1

        def part(match):
            where = f"{page}:{line + text[:match.start()].count(chr(10))}"
            try:
                if match["image"]:
                    source = re.search(r'src="([^"]*)"', match["image"])
                    label = re.search(r'alt="([^"]*)"', match["image"])
                    return self.resolve(label[1], source[1], page, True) + "\n" * match["image"].count("\n")
                if match["target"]:
                    return self.resolve(match["label"], match["target"], page, bool(match["picture"]))
            except Problem as problem:
                problems.append(f"{where}: error: {problem}")
                return match[0]
            name = " ".join(match["code"].strip("`").split())
            address = self.links.get(name)
            inside = text[:match.start()].rsplit("\n", 1)[-1].startswith("#")
            if not address or inside or name in linked or "\n" in match["code"]:
                return match[0]
            linked.add(name)
            return f"[{match['code']}]({address})"

        # A list of pages shows a title as it is.
        result, self.texts[page] = "", re.sub(r"\A# .*", lambda match: match[0].replace("`", ""), self.texts[page])
        for code, text in blocks(self.texts[page]):
            result += text if code else PART.sub(part, text)
            line += text.count("\n")
        return result, problems

    def topics(self):
        """The curated topics of the first page: the products, and the tables of the list of pages."""
        lines = ["", "## Topics", "", "### Products", ""]
        lines += [f"- ``/{name}``" for name in self.products]
        listed = {"README.md", *(page for inner in self.inner.values() for page in inner)}
        for group in re.split(r"^## ", text_of(LIST), flags=re.M)[1:]:
            lines += ["", f"### {group.splitlines()[0]}", ""]
            for path in re.findall(r"\]\(([^)#]+\.md)\)", group):
                target = os.path.normpath(os.path.join(os.path.dirname(LIST), path))
                if target in self.pages and target not in listed:
                    listed.add(target)
                    lines.append(f"- <doc:{article(target)}>")
        missing = [f"{LIST}: error: it does not list {page}" for page in self.pages if page not in listed]
        return "\n".join(lines) + "\n", missing

    def write(self, output):
        """Writes the catalogue and returns what is wrong, and the page of each article by its file."""
        os.makedirs(output)
        found, names = [], {}
        for page in self.pages:
            text, problems = self.rewrite(page)
            found += problems
            if page == "README.md":
                topics, problems = self.topics()
                found += problems
                text += topics + "\n@Metadata {\n    @TechnologyRoot\n}\n"
            elif page in self.inner:
                text += "\n".join(["", "## Topics", "", "### Pages", "", *(
                    f"- <doc:{article(other)}>" for other in self.inner[page])]) + "\n"
            name = f"{article(page)}.md"
            if name in names:
                found.append(f"{page}: error: its article has the name of that of {names[name]}")
            names[name] = page
            with open(f"{output}/{name}", "w") as file:
                file.write(text)
        for image in self.images:
            shutil.copy(f"{ROOT}/{image}", output)
        return found, names

    def sign(self, text, page):
        """A product's text with links to the guides that it names, and without what builders of the product read."""
        def link(match):
            if match[0] not in self.pages:
                raise Problem(f"{page}: error: there is no page {match[0]}")
            return f"[{title(self.texts[match[0]])}](/documentation/{NAME}/{article(match[0]).lower()})"

        builders = re.compile(r"^## For builders\n.*?(?=^## |\Z)", re.M | re.S)
        text = builders.sub(lambda match: "\n" * match[0].count("\n"), text)
        return re.sub(r"Documentation/[\w/]+\.md", link, text)
