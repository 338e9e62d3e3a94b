# SPDX-License-Identifier: BSD-3-Clause
"""A web page as a tree, to look things up in it."""

from html.parser import HTMLParser


class Node:
    """An element of a page."""

    def __init__(self, tag, attrs):
        self.tag, self.attrs, self.parts = tag, dict(attrs), []

    def __iter__(self):
        """It, and everything inside."""
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part

    def find(self, tag, name="", **attrs):
        """All elements inside with this tag, class and these attributes."""
        return [
            node
            for node in self
            if node.tag == tag
            and (not name or name in node.attrs.get("class", "").split())
            and attrs.items() <= node.attrs.items()
        ]

    @property
    def text(self):
        parts = (part.text if isinstance(part, Node) else part for part in self.parts)
        return " ".join("".join(parts).split())


class Reader(HTMLParser):
    """Makes a tree of a page, and complains of elements that are not closed."""

    EMPTY = frozenset({"meta", "link", "input", "br"})

    def __init__(self, text):
        super().__init__()
        self.open = [Node("", {})]
        self.feed(text)
        self.close()
        (self.page,) = self.open

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs)
        self.open[-1].parts.append(node)
        if tag not in self.EMPTY:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].parts.append(Node(tag, attrs))

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].parts.append(data)


def read(path):
    return Reader(path.read_text(encoding="utf-8")).page
