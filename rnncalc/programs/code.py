"""Python as text: lines broken as ruff's formatter breaks them, docstrings, and identifiers from users' names.

The text of a spec becomes an identifier of plain letters, or harmless text in a docstring or comment. Knows no
framework but the names that their modules use.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Container, Iterator, Sequence
from keyword import kwlist
from textwrap import wrap
from unicodedata import normalize

from rnncalc.layers.layer import External
from rnncalc.printable import escape
from rnncalc.programs.program import Module

WIDTH = 88
INDENT = "    "
NOTE = "  # "


def with_comment(code: str, note: str) -> str:
    """Return a line of code with a comment, if there is one."""
    return f"{code}{NOTE}{note}" if note else code


def broken(line: str) -> list[str]:
    """Return a line of code in as many lines as it needs, with its indentation.

    A comment is at the end of a line that leaves room for it, else above.
    """
    code, _, note = line.partition(NOTE)
    indent = " " * (len(code) - len(code.lstrip()))
    lines = _broken(code.lstrip(), indent)
    if not note:
        return lines
    if len(lines) == 1 and len(with_comment(lines[0], note)) <= WIDTH:
        return [with_comment(lines[0], note)]
    return [f"{indent}# {note}", *lines]


def _broken(code: str, indent: str, after: str = "") -> list[str]:
    """Return the lines of a statement or an argument: its terms, or what is in its first brackets, broken apart."""
    whole = f"{indent}{code}{after}"
    if len(whole) <= WIDTH:
        return [whole]
    outside = _outside(code)
    start = outside.find(" = ") + 3 if " = " in outside else 0
    if len(_terms(code[start:])) > 1:
        return [f"{indent}{code[:start]}(", *_inside(code[start:], indent + INDENT), f"{indent}){after}"]
    brackets = re.compile("[(\\[{]\0+").search(outside, start)
    if brackets is None:
        return [whole]
    head, args, tail = code[: brackets.start() + 1], code[brackets.start() + 1 : brackets.end()], code[brackets.end() :]
    if start and len(indent + head) > WIDTH:
        inside = _broken(code[start:], indent + INDENT)
        return [f"{indent}{code[:start]}(", *inside, f"{indent}){after}"]
    groups = re.search(r"(^|[^\w)\]])\($", head) is not None  # brackets around a factor, not those of a call
    return [f"{indent}{head}", *_inside(args, indent + INDENT, groups=groups), f"{indent}{tail}{after}"]


def _inside(args: str, indent: str, *, groups: bool = False) -> list[str]:
    """Return the lines inside brackets that were opened on an earlier line.

    groups: whether the brackets only group, so that a comma after a single value would make it a tuple.
    """
    if len(indent + args) <= WIDTH:
        return [f"{indent}{args}"]
    split: list[str] = []
    for arg in _split(args, ", "):
        if split and split[-1].startswith("lambda ") and ":" not in split[-1]:  # its parameters
            split[-1] += f", {arg}"
        else:
            split.append(arg)
    terms = _terms(args)
    if len(split) == 1 and len(terms) > 1:
        return [f"{indent}{term}" for term in terms]
    if len(split) == 1 and groups:
        return [line for factor in _split(args, " (?=[*/@] )") for line in _broken(factor, indent)]
    return [line for arg in split for line in _broken(arg, indent, ",")]


def _terms(code: str) -> list[str]:
    """Return the terms of a sum, each but the first with its sign."""
    return _split(code, " (?=[+-] )")


def _split(code: str, separator: str) -> list[str]:
    """Return code split at separators outside brackets."""
    matches = [*re.finditer(separator, _outside(code))]
    starts, ends = [0, *(each.end() for each in matches)], [*(each.start() for each in matches), len(code)]
    return [code[start:end] for start, end in zip(starts, ends, strict=True)]


def _outside(code: str) -> str:
    """Return code with a NUL for each character within brackets."""
    depth, outside = 0, ""
    for char in code:
        depth -= char in ")]}"
        outside += "\0" if depth else char
        depth += char in "([{"
    return outside


def with_return(lines: list[str]) -> list[str]:
    """Return the lines of a function that returns x: its last assignment becomes the return."""
    head = INDENT * 2
    at = max(number for number, line in enumerate(lines) if line.startswith(head) and line[len(head)] not in " )")
    answer = lines[at].replace("x = ", "return ", 1)
    if lines[at].startswith(f"{head}x = ") and len(answer) <= WIDTH:
        return [*lines[:at], answer, *lines[at + 1 :]]
    return [*lines, f"{head}return x"]


def docstring(*paragraphs: str) -> list[str]:
    """Return the lines of a docstring; users' text in it must have gone through `docstring_text`."""
    width = WIDTH - len(INDENT)
    (first, *others) = (paragraph for paragraph in paragraphs if paragraph)
    if not others and len(first) + 6 <= width:
        return [f'{INDENT}"""{first}"""']
    lines = [f'{INDENT}"""' + f"\n{INDENT}".join(_wrapped(first, width - 3))]
    for paragraph in others:
        lines += ["", *(f"{INDENT}{line}" for line in _wrapped(paragraph, width))]
    return [line for text in lines for line in text.split("\n")] + [f'{INDENT}"""']


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def docstring_text(text: str, most: int = 200) -> str:
    """Return users' text for a docstring: on one line, and unable to end it."""
    return escape(text, most).replace("\\", "\\\\").replace('"""', '\\"\\"\\"').strip()


MOST = 32
"""The characters of a name made from another; longer ones are cut."""

FALLBACK = "Network"

RESERVED = frozenset(
    """
    activity_regularizer add_loss add_metric add_module add_variable add_weight apply autocast bfloat16 bind buffers
    build build_from_config built call call_signature_parameters call_super_init children clone compile
    compile_from_config compiled compute_dtype compute_loss compute_loss_and_updates compute_mask compute_metrics
    compute_output_shape compute_output_spec copy count_params cpu cuda double dtype dtype_policy dump_patches eval
    evaluate export extra_repr fit float forward from_config get_buffer get_build_config get_compile_config get_config
    get_extra_state get_layer get_metrics_result get_parameter get_quantization_layer_structure get_state_tree
    get_submodule get_variable get_weights half has_rng has_variable init init_with_output input input_dtype input_spec
    ipu is_initializing is_mutable_collection iter_children iter_modules jax_state_sync jit_compile layers lazy_init
    load_own_variables load_state_dict load_weights loss losses make_predict_function make_rng make_test_function
    make_train_function metrics metrics_names metrics_variables module_paths modules mtia name named_buffers
    named_children named_modules named_parameters non_trainable_variables non_trainable_weights param parameters parent
    path perturb predict predict_function predict_on_batch predict_step put_variable quantization_mode quantize
    quantized_build quantized_call register_backward_hook register_buffer register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
    register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module register_parameter
    register_state_dict_post_hook register_state_dict_pre_hook rematerialized_call requires_grad_ reset_metrics
    run_eagerly save save_own_variables save_weights scope set_attributes set_extra_state set_state_tree set_submodule
    set_weights setup share_memory sow state_dict stateless_call stateless_compute_loss steps_per_execution summary
    supports_jit supports_masking symbolic_call t_destination tabulate test_function test_on_batch test_step to to_empty
    to_json train train_function train_on_batch train_step trainable trainable_variables trainable_weights training type
    unbind variable variable_dtype variables weights xpu zero_grad
    """.split()  # noqa: SIM905  a list of so many words would fill pages
)
"""The names that the frameworks' modules use themselves, in small letters, except `output`."""

BESIDE = ("extra", "start", "forward", "backward", "bias", "end", "positions")
"""What may follow a module's name, `_` between, for what belongs to it; so may a state, and `_0` after that."""


def identifiers(modules: Sequence[Module], reserved: Container[str] = ()) -> dict[str, str]:
    """Return the identifier of each module in a program; all of them differ.

    reserved: names that the framework's modules have beside those of RESERVED.
    """
    taken: set[str] = set()
    names: dict[str, str] = {}
    makers = {module.name: starts for module in modules if (starts := module.places[0].starts)}
    for module in modules:
        if module.name in makers:
            continue
        kind = module.layer.kind
        stem = stem_of(module.name, kind, "layer", reserved)
        identifier, number = stem, 1
        while taken & {*_family(module, identifier)}:
            number += 1
            identifier = f"{stem}_{number}"
        taken |= {*_family(module, identifier)}
        names[module.name] = identifier
    for maker, (layer, letter) in makers.items():  # in the family of the layer that starts at it
        names[maker] = f"{names[layer]}_{letter}_0"
    return {module.name: names[module.name] for module in modules}


def stem_of(name: str, kind: str, suffix: str, reserved: Container[str]) -> str:
    """Return an identifier for a name, or for its kind if it has no plain letter; suffix: put after a reserved word."""
    stem = _plain(name).lower() or kind
    stem = f"{kind}_{stem}" if stem[0].isdigit() else stem
    return f"{stem}_{suffix}" if stem in RESERVED or stem in reserved or stem in kwlist else stem


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return json.dumps(text, ensure_ascii=False)


def tensors_of(layer: External) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Yield the name, the shape and whether it is trained of each tensor of an external layer; `external` has no names.

    After each part of a name that the frameworks' modules use themselves is `_`.
    """
    taken = {*RESERVED, "outputs", "shapes", "frozen"}
    for name, shape in layer.tensors or [("external", (layer.params,))]:
        parts = (f"{part}_" if part.lower() in taken else part for part in name.split("."))
        yield ".".join(parts), shape, layer.trains(name)


def attribute(name: str, reserved: Container[str]) -> str:
    """Return the name of an array as the attribute of a module."""
    plain = re.sub(r"\W", "_", name)
    return f"{plain}_" if plain.lower() in RESERVED or plain.lower() in reserved or plain in kwlist else plain


def _family(module: Module, identifier: str) -> Iterator[str]:
    """Yield the names that a module may have for itself and what belongs to it."""
    yield identifier
    yield from (f"{identifier}_{word}" for word in BESIDE)
    for letter in getattr(module.layer, "states", ()):
        yield from (f"{identifier}_{letter}", f"{identifier}_{letter}_0")


def class_name(name: str, taken: Container[str] = ()) -> str:
    """Return the name of a class for something that is called so."""
    words = [word for word in _plain(name).split("_") if word]
    title = "".join(f"{word[0].upper()}{word[1:]}" for word in words)
    if not title or title[0].isdigit():
        title = f"{FALLBACK}{title}"
    return f"{title}{FALLBACK}" if title in taken or hasattr(builtins, title) or title in kwlist else title


def _plain(name: str) -> str:
    """Return a name in plain letters and digits, with `_` for all else."""
    letters = normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub("[^A-Za-z0-9]+", "_", letters).strip("_")
    if len(plain) <= MOST:
        return plain
    words, cut, _ = plain[: MOST + 1].rpartition("_")
    return words if cut else plain[:MOST]
