#!/usr/bin/env python3
"""The sources of the book: the pages of docs/, and what they link to elsewhere in the repository.

    book_sources.py FOLDER          writes book.toml and src/ there
    book_sources.py --check BOOK    follows every link between the pages that mdBook made, headings included

1. Every file of docs/ is copied.
2. A link of a page that leads out of docs/ (`../src/target/mod.rs`) leads to a copy in `repository/` then. A browser
   shows `.md` and sources as text only if they end in `.txt`, so they do. A folder becomes a list of its files.
"""

import html.parser
import pathlib
import re
import shutil
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")


def copy(target: pathlib.Path, source: pathlib.Path) -> pathlib.Path:
    """Copies a file of the repository into the book; its path there."""
    relative = target.relative_to(ROOT)
    to = source / "repository" / relative
    # mdBook takes every link with `.md` for one of its pages.
    to = to.with_name(to.name.replace(".md", "-md") + ".txt")
    to.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        files = sorted(f.relative_to(ROOT) for f in target.rglob("*") if f.is_file())
        to.write_text("".join(f"{f}\n" for f in files))
    else:
        shutil.copyfile(target, to)
    return to


def write(folder: pathlib.Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    source = folder / "src"
    shutil.copytree(ROOT / "docs", source)
    shutil.move(source / "book.toml", folder / "book.toml")
    for page in source.rglob("*.md"):
        original = ROOT / "docs" / page.relative_to(source)

        def moved(match: re.Match) -> str:
            link = match[1]
            path, _, heading = link.partition("#")
            if not path or "://" in link:
                return match[0]
            target = (original.parent / path).resolve()
            if not target.exists():
                sys.exit(f"{original.relative_to(ROOT)} links to {link}")
            if target.is_relative_to(ROOT / "docs"):
                return match[0]
            to = copy(target, source)
            up = "../" * len(page.relative_to(source).parent.parts)
            return f"]({up}{to.relative_to(source)})"

        page.write_text(LINK.sub(moved, page.read_text()))


class Page(html.parser.HTMLParser):
    """Links and names of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if given.get("id"):
            self.names.add(given["id"])
        link = given.get("href") if tag in ("a", "link") else given.get("src") if tag in ("img", "script") else None
        if link:
            self.links.append(link)


def check(book: pathlib.Path) -> None:
    # The page for addresses that do not exist has links that depend on where the book lies.
    paths = [p for p in sorted(book.rglob("*.html")) if p.name not in ("404.html", "toc.html")]
    pages = {p: Page(p.read_text()) for p in paths}
    wrong, followed = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            followed += 1
            if not target.exists():
                wrong.append(f"{path.relative_to(book)}: {link}")
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].names:
                    wrong.append(f"{path.relative_to(book)}: {link} (no such heading)")
    if wrong:
        sys.exit("links that lead nowhere:\n" + "\n".join(wrong))
    print(f"{len(pages)} pages, {followed} links")


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(pathlib.Path(sys.argv[2]).resolve())
    else:
        write(pathlib.Path(sys.argv[1]).resolve())
