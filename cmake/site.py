# SPDX-License-Identifier: Apache-2.0
"""What mkdocs does for this repository besides.

The first page is the README, the reference comes from Doxygen, and links out of docs/ lead to copies. A link to a folder
leads to a list of what it holds. Pages, links and anchors that are not there are warnings of mkdocs, which --strict
turns into errors.
"""

import os
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
API = os.environ["LACONIC_API"]  # a folder of this name, with the reference
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
# mkdocs takes Markdown for pages, so the other Markdown files are copied under another name.
SHOWN = "source/{}.txt"


def leads(target, page):
    """Where a page's link to a path beside it goes on the site, and the path from the repository's root if it is a source."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    if path.startswith("docs/"):
        return path[len("docs/"):], None
    if path == "README.md":
        return "index.md", None
    if os.path.isdir(os.path.join(ROOT, path)):
        return f"source/{path}.md", path
    return SHOWN.format(path), path


def moved(text, page, sources):
    """The text of a page with its links as they are on the site; adds to `sources` what they lead to."""

    def link(match):
        if "://" in match[2]:
            return match[0]
        to, path = leads(match[2], page)
        if path:
            sources.add(path)
        here = posixpath.dirname(page.removeprefix("docs/"))
        return match[1] + posixpath.relpath(to, here or ".") + (match[3] or "") + match[4]

    parts = re.split(r"(```.*?```)", text, flags=re.DOTALL)
    # In a table's code the bar is escaped for GitHub, and must not be for mkdocs.
    def prose(part):
        return re.sub(r"`[^`\n]*`", lambda code: code[0].replace("\\|", "|"), LINK.sub(link, part))

    return "".join(part if part.startswith("```") else prose(part) for part in parts)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def on_files(files, config):
    sources = set()
    for file in list(files.documentation_pages()):
        file.content_string = moved(file.content_string, "docs/" + file.src_uri, sources)
    for name in sorted(os.listdir(API)):
        if os.path.isfile(os.path.join(API, name)):
            files.append(File(f"api/{name}", os.path.dirname(API), config.site_dir, False))
    files.append(File.generated(config, "index.md", content=moved(read("README.md"), "README.md", sources)))
    done = set()
    while sources - done:
        path = min(sources - done)
        done.add(path)
        if os.path.isdir(os.path.join(ROOT, path)):
            names = subprocess.run(["git", "-C", ROOT, "ls-files", path], capture_output=True, text=True, check=True)
            lines = []
            for name in names.stdout.splitlines():
                sources.add(name)
                to = posixpath.relpath(SHOWN.format(name), posixpath.dirname(f"source/{path}.md"))
                lines.append(f"- [{name[len(path) + 1:]}]({to})")
            page = f"# {path}\n\n" + "\n".join(lines) + "\n"
            files.append(File.generated(config, f"source/{path}.md", content=page))
        else:
            files.append(File.generated(config, SHOWN.format(path), content=read(path)))
    return files


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri.startswith(("results", "source")):  # what users ask for stands on the other pages
        page.meta["search"] = {"boost": 0.1}
    return markdown
