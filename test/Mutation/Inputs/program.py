"""A printed `ts` module as a tree of statements that mutations edit. Knows braces, not meanings.

A statement is one line, or a head line with regions between braces. `ts-opt` prints every base first,
so that one op is one statement and resources have the names %0, %1, ...
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import copy
import re


class Node:
    """`head`, then for each region its statements, with `seps` ("} else {") between and `end` behind."""

    def __init__(self, head):
        self.head = head
        self.regions = []
        self.seps = []
        self.end = None

    @property
    def op(self):
        match = re.match(r"(?:%[^=]*= )?((?:ts|gpu|arith|scf|memref|vector)\.[\w.]+)", self.head.strip())
        return match.group(1) if match else ""

    @property
    def operand(self):
        """The resource that a step names: the first value behind the op."""
        match = re.search(r"ts\.\w+(?: \w+ | )(%[\w#-]+)", self.head)
        return match.group(1) if match else ""

    def lines(self):
        yield self.head
        for i, region in enumerate(self.regions):
            for node in region:
                yield from node.lines()
            yield self.seps[i] if i < len(self.seps) else self.end


def parse(text):
    lines = [line for line in text.splitlines() if line.strip()]
    position = 0

    def block():
        nonlocal position
        nodes = []
        while position < len(lines) and not lines[position].strip().startswith("}"):
            node = Node(lines[position])
            position += 1
            nodes.append(node)
            if not node.head.rstrip().endswith("{"):
                continue
            while True:
                node.regions.append(block())
                close = lines[position]
                position += 1
                if close.rstrip().endswith("{"):
                    node.seps.append(close)
                    continue
                node.end = close
                break
        return nodes

    return block()


def text(nodes):
    return "\n".join(line for node in nodes for line in node.lines()) + "\n"


class Program:
    """A base program. Mutations call `edit` for a copy and work on that."""

    def __init__(self, name, source):
        self.name = name
        self.nodes = parse(source)

    def edit(self):
        return copy.deepcopy(self)

    def text(self):
        return text(self.nodes)

    def walk(self, nodes=None, path=()):
        """Every statement with the list it stands in and the statements around it."""
        nodes = self.nodes if nodes is None else nodes
        for index, node in enumerate(nodes):
            yield Place(self, nodes, index, path)
            for region in node.regions:
                yield from self.walk(region, path + (node,))

    def places(self, *ops):
        """In the order of the text; the n-th place of a copy is the n-th place of the base."""
        return [place for place in self.walk() if place.node.op in ops]

    def kernel(self):
        return next(place.node for place in self.walk() if place.node.op == "ts.kernel")

    def declaration(self, value):
        return next((node for node in self.kernel().regions[0] if node.head.strip().startswith(value + " =")), None)

    def tasks(self):
        return [node for node in self.kernel().regions[0] if node.op == "ts.task"]

    def rename(self, name):
        kernel = self.kernel()
        kernel.head = re.sub(r"@\w+", "@" + name, kernel.head, count=1)


class Place:
    def __init__(self, program, siblings, index, path):
        self.program, self.siblings, self.index, self.path = program, siblings, index, path

    @property
    def node(self):
        return self.siblings[self.index]

    @property
    def indent(self):
        return re.match(r" *", self.node.head).group(0)

    def task(self):
        return next((node for node in self.path if node.op == "ts.task"), None)

    def loops(self):
        return [node for node in self.path if node.op in ("ts.for", "ts.tile_loop")]

    def loop(self):
        loops = self.loops()
        return loops[-1] if loops else None

    def guarded(self):
        return any(node.op in ("ts.guard", "ts.when", "ts.skippable", "scf.if") for node in self.path)

    def pipeline(self):
        """The type of the pipeline of the resource that this step names, or nothing."""
        declaration = self.program.declaration(self.node.operand)
        if declaration is None:
            return ""
        match = re.search(r"pipeline\((\w+)", declaration.head)
        return match.group(1) if match else ("queue" if declaration.op == "ts.work_queue" else "")

    def remove(self):
        del self.siblings[self.index]

    def insert(self, offset, *heads):
        for head in reversed(heads):
            node = head if isinstance(head, Node) else Node(self.indent + head)
            self.siblings.insert(self.index + offset, node)

    def next(self, *ops, operand=None):
        """Index of the next sibling of that kind."""
        for index in range(self.index + 1, len(self.siblings)):
            node = self.siblings[index]
            if node.op in ops and (operand is None or node.operand == operand):
                return index
        return None
