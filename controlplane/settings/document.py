"""YAML text -> a plain tree that remembers where each thing stood and how it was written.

The tree holds what JSON can hold. Numbers with a point stay `Decimal`, so 21.40 is a price of
21.40; names stay as they were written, so a node class called 910 is "910".
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from controlplane.domain.faults import Fault, FaultsError

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | bool | Decimal | None"
Path: TypeAlias = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_MERGE = "<<"
_TRUE = frozenset({"true", "yes", "on", "y"})  # the last three only in a YAML 1.1 file
_NOT_FINITE = frozenset({".inf", ".nan"})
_DEEPEST = 40  # an alias may contain itself
_MOST_VALUES = 300_000  # and aliases of aliases must not eat the memory


@dataclass(slots=True)
class Document:
    """One file's content, with the line of every key and the faults found while reading."""

    source: str
    tree: Tree = None
    lines: dict[Path, int] = field(default_factory=dict)
    written: dict[Path, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def line(self, path: Path) -> int:
        """Give the line of a path, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fault(self, path: Path, rule: str, value: str | None = None) -> Fault:
        """Build the fault of the value at a path."""
        shown = self.written.get(path, "") if value is None else value
        return Fault(self.source, self.line(path), dotted(path), shown, rule)


def dotted(path: Path) -> str:
    """Write a path as people read it: models.sdxl.policy, pools[2].nodes."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


class _Bounded(Composer):
    """Stops at once where a text nests too deeply: the scanner takes quadratic time over it."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader)
        self.warn_double_anchors = False  # YAML 1.2 lets a name be given again
        self._depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Any:
        """Compose one node and what is in it."""
        self._depth += 1
        if self._depth > _DEEPEST + 1:
            raise RecursionError
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def parse(text: str, source: str) -> Document:
    """Read YAML (1.2); what cannot be read at all is raised, what is doubtful becomes a fault."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Bounded
    try:
        root = yaml.compose(text)
    except MarkedYAMLError as error:
        raise FaultsError([_syntax(error, text, source)]) from error
    except YAMLError as error:  # characters YAML forbids
        rule = f"is not YAML: {' '.join(str(error).split())}"
        raise FaultsError([Fault(source, None, "", "", rule)]) from error
    except RecursionError as error:
        raise FaultsError([Fault(source, None, "", "", "is nested too deeply")]) from error
    if root is None:
        raise FaultsError([Fault(source, 1, "", "", "the file is empty")])
    reader = _Reader(Document(source))
    reader.document.tree = reader.build(root, (), root.start_mark.line + 1)
    return reader.document


def _syntax(error: MarkedYAMLError, text: str, source: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark else 0
    lines = text.splitlines()
    written = lines[line].strip() if line < len(lines) else ""
    if r"'\t'" in str(error.problem):
        return Fault(source, line + 1, "", written, "indented with a tab; YAML wants spaces")
    about = ", ".join(
        " ".join(str(part).split()) for part in (error.context, error.problem) if part
    )
    return Fault(source, line + 1, "", written, f"is not YAML: {about}")


class _Reader:
    """Walks the nodes once and fills the document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._values = 0

    def build(self, node: Node, path: Path, line: int) -> Tree:
        """Turn one node into its part of the tree."""
        self._values += 1
        if self._values > _MOST_VALUES or len(path) > _DEEPEST:
            rule = f"more than {_MOST_VALUES} values, or nested deeper than {_DEEPEST}"
            raise FaultsError([Fault(self.document.source, line, dotted(path[:3]), "", rule)])
        self.document.lines[path] = line
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [
                self.build(item, (*path, index), item.start_mark.line + 1)
                for index, item in enumerate(node.value)
            ]
        self.document.written[path] = str(node.value)
        try:
            return self._scalar(str(node.value), str(node.tag).removeprefix(_TAG), path)
        except (ValueError, ArithmeticError):  # YAML 1.1 sexagesimals, `!!int ten`
            return str(node.value)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Tree]:
        mapping: dict[str, Tree] = {}
        merges: list[Node] = []
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, ScalarNode):
                self._doubt(path, line, "a key must be one word")
            elif key.value == _MERGE and not key.style:
                merges.extend(value.value if isinstance(value, SequenceNode) else [value])
            elif key.value in mapping:
                first = self.document.lines[*path, key.value]
                self._doubt((*path, key.value), line, f"written twice, first in line {first}")
            else:
                mapping[key.value] = self.build(value, (*path, key.value), line)
        for merge in merges:
            self._merge(mapping, merge, path)
        return mapping

    def _merge(self, mapping: dict[str, Tree], source: Node, path: Path) -> None:
        """Take over what `<<: *anchor` brings and the mapping does not say itself."""
        if not isinstance(source, MappingNode):
            self._doubt(path, source.start_mark.line + 1, "<< takes a mapping, or a list of them")
            return
        for key, value in source.value:
            name = str(key.value)
            if name not in mapping:
                mapping[name] = self.build(value, (*path, name), key.start_mark.line + 1)

    def _scalar(self, written: str, tag: str, path: Path) -> Tree:
        if tag == "null":
            return None
        if tag == "bool":
            return written.lower() in _TRUE
        if tag == "int":
            return whole(written)
        if tag == "float":
            if written.lstrip("+-").lower() in _NOT_FINITE:
                self.document.faults.append(self.document.fault(path, "is not a finite number"))
                return 0
            return Decimal(written.replace("_", ""))
        return written

    def _doubt(self, path: Path, line: int, rule: str) -> None:
        self.document.faults.append(Fault(self.document.source, line, dotted(path), "", rule))


def whole(written: str) -> int:
    """Read a whole number as YAML 1.2 writes it: 12, -3, 1_000, 0x1F, 0o17; 010 is ten."""
    digits = written.replace("_", "").lower()
    unsigned = digits.lstrip("+-")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(unsigned[:2], 10)
    return int(digits, base)
