"""The operators of an ONNX graph as modules: each with the tensors it reads, as it uses them. Knows no layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rnncalc.modelfiles.model import FileTensor, Module
from rnncalc.modelfiles.numbers import transposed
from rnncalc.modelfiles.onnx_graph import Node

INPUTS = {
    "LSTM": ("", "W", "R", "B", "", "initial_h", "initial_c", "P"),
    "GRU": ("", "W", "R", "B", "", "initial_h"),
    "RNN": ("", "W", "R", "B", "", "initial_h"),
    "Gemm": ("", "B", "C"),
    "MatMul": ("", "B"),
    "Gather": ("data",),
}
"""What operators call what they read."""


MOST_FOLLOWED = 1_000
"""How many matrices that several products read are followed through the graph."""


class Used(NamedTuple):
    """A tensor as an operator reads it, turned or not."""

    tensor: FileTensor
    turned: bool = False

    def as_read(self) -> FileTensor:
        """Return the tensor in the shape in which it is read."""
        if not self.turned or len(self.tensor.shape) != 2:
            return self.tensor
        read = self.tensor.read
        return self.tensor._replace(shape=self.tensor.shape[::-1], read=lambda: transposed(read()))


def modules_of(nodes: list[Node], parameters: Mapping[str, FileTensor]) -> tuple[Module, ...]:
    """Return a module for each operator that reads parameters, and one for each parameter that none reads."""
    used = {name: Used(tensor) for name, tensor in parameters.items()}
    for node in nodes:
        if node.operator in ("Identity", "Transpose") and node.inputs and node.outputs and node.inputs[0] in used:
            below = used[node.inputs[0]]
            turned = node.operator == "Transpose" and node.settings.get("perm", [1, 0]) == [1, 0]
            if turned or node.operator == "Identity":
                used[node.outputs[0]] = below._replace(turned=below.turned != turned)
    added = dict(_added(nodes, used))
    claimed: dict[str, str] = {}
    names: set[str] = set()
    found: list[Module] = []
    taken = {name for _, name in added.values()}
    again = _applied_again(nodes, used)
    for place, node in enumerate(nodes):
        reads = {**_reads(node, used, taken), **({"C": used[added[place][1]]} if place in added else {})}
        if not reads or node.operator in ("Identity", "Transpose"):
            continue
        path = node.name if node.name and node.name not in names else next(iter(reads.values())).tensor.name
        names.add(path)
        tensors = {leaf: _claimed(each, claimed) for leaf, each in reads.items()}
        piece = node.looped or any(each.tensor.name in again for each in reads.values())
        kind = "" if piece else node.operator  # a product that is done at each step is a piece of a cell
        found.append(Module(path, tensors, kind, node.settings))
    found += [Module(name, {name: tensor}) for name, tensor in parameters.items() if name not in claimed]
    return tuple(found)


def _applied_again(nodes: list[Node], used: Mapping[str, Used]) -> set[str]:
    """Return the matrices that are multiplied with what was made of their own product: steps written out in a row."""
    readers: dict[str, list[str]] = {}
    for node in nodes:
        if node.operator in ("MatMul", "Gemm"):
            for name in {*node.inputs[:2]} & used.keys():
                readers.setdefault(used[name].tensor.name, []).append(node.name)
    several = [name for name, of in readers.items() if len(of) > 1][:MOST_FOLLOWED]
    bits = {name: 1 << place for place, name in enumerate(several)}
    behind: dict[str, int] = {}  # which of them have gone into what stands under a name
    found = 0
    for node in nodes:
        before = own = 0
        for name in node.inputs:
            before |= behind.get(name, 0)
            if node.operator in ("MatMul", "Gemm") and name in used:
                own |= bits.get(used[name].tensor.name, 0)
        found |= before & own
        for name in node.outputs if before | own else ():
            behind[name] = before | own
    return {name for name, bit in bits.items() if found & bit}


def _claimed(used: Used, claimed: dict[str, str]) -> FileTensor:
    """Return a tensor as it is read; what another operator read before is that one's."""
    tensor = used.as_read()
    if tensor.name in claimed:
        return tensor._replace(shared_with=tensor.name)
    claimed[tensor.name] = tensor.name
    return tensor


def _reads(node: Node, used: Mapping[str, Used], taken: set[str]) -> dict[str, Used]:
    """Return the parameters that an operator reads, under the names it has for them."""
    names = INPUTS.get(node.operator, ())
    found: dict[str, Used] = {}
    for place, name in enumerate(node.inputs):
        if name in used and name not in taken:
            leaf = names[place] if place < len(names) and names[place] else name
            found[leaf] = used[name]
    if node.operator == "Gemm" and "B" in found and _flag(node.settings.get("transB")):
        found["B"] = found["B"]._replace(turned=not found["B"].turned)
    return found


def _flag(value: Any) -> bool:
    return isinstance(value, list) and value[:1] == [1]


def _added(nodes: list[Node], used: Mapping[str, Used]) -> Iterator[tuple[int, tuple[int, str]]]:
    """Yield the products to which a vector of parameters is added: their places, and the vector's name."""
    products = {
        node.outputs[0]: place for place, node in enumerate(nodes) if node.operator == "MatMul" and node.outputs
    }
    for place, node in enumerate(nodes):
        if node.operator != "Add" or len(node.inputs) != 2:
            continue
        for one, other in (node.inputs, node.inputs[::-1]):
            if one in products and other in used and len(used[other].tensor.shape) == 1:
                yield products[one], (place, other)
                break
