"""What is held of every saved file, whichever framework wrote it: its own spec counts what it holds and matches it."""

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from rnncalc import External, Network, load
from rnncalc.cli import call
from rnncalc.models.files import read
from rnncalc.printable import escape


def called(*words: object) -> tuple[int, str]:
    """Return the exit code of a call, and all that it prints."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    with redirect_stdout(out), redirect_stderr(out):
        code = call([str(word) for word in words])
    out.flush()
    return code, raw.getvalue().decode()


def hold(path: Path, params: int, trainable: int | None = None) -> str:
    """Assert that a file's own spec counts what it holds, and that check finds what it says of a run; return it.

    trainable: the parameters that are trained; None for those that the file does not call frozen.
    """
    code, text = called("read", path)
    assert code == 0, text
    spec = spec_of(path)
    spec.write_text(text)
    code, counted = called("count", spec, "-f", "json")
    totals = json.loads(counted)["reports"][0]
    assert (code, totals["params"]) == (0, params), text
    if trainable is None:
        trainable = params - sum(tensor.params for tensor in read(str(path)).tensors if tensor.frozen)
    assert totals["trainable"] == trainable or "frozen in part" in text, text
    code, checked = called("check", spec, "--model", path, "-f", "json")
    if code:  # because a layer computes what no spec can say, and the draft says so
        report, _ = json.JSONDecoder().raw_decode(checked)
        wrong = [each["message"] for each in report["reports"][0]["checks"] if not each["ok"]]
        assert all(message.partition(":")[0][1:] in text and "a run differs" in message for message in wrong), (
            f"{text}\n{checked}"
        )
    assert code == ("a run differs" in text), f"{text}\n{checked}"
    return text


def keep_promises(path: Path, params: int, trainable: int, flow: Any, theirs: Callable[[], Any]) -> tuple[str, bool]:
    """Assert what holds of every file with a configuration: its counts, and its outputs if they are computed.

    Returns its spec, and whether it was run.
    """
    text = hold(path, params)
    _, counted = called("count", spec_of(path), "-f", "json")
    assert json.loads(counted)["reports"][0]["trainable"] == trainable, text
    inputs = path.with_name("inputs.yaml")
    inputs.write_text(json.dumps(flow.tolist()))
    code, out = called("run", spec_of(path), "--weights", path, "--inputs", inputs, "-f", "json")
    if not code:
        outputs = np.array(json.loads(out)["reports"][0]["outputs"])
        np.testing.assert_allclose(outputs.ravel(), np.ravel(theirs()), rtol=1e-5, atol=1e-5, err_msg=text)
    else:
        assert code == 2, out
    return text, not code


def external_params(path: Path) -> int:
    """Return the parameters of the external layers in the spec of a file."""
    return sum(placed.params for placed in load(str(spec_of(path))).stack if isinstance(placed.layer, External))


def spec_of(path: Path) -> Path:
    """Return where the spec of a file is put."""
    return path.with_name(f"{path.name}.yaml")


def refused(spec: Path, changed: Path, name: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Assert that a copy with one tensor of another shape fails, and that it is said which shape was expected."""
    code, said = called("check", spec, "--model", changed, "--tensors", "-f", "json")
    ours, theirs = (f"({', '.join(map(str, shape))})" for shape in shapes)
    assert (code, f"expected {ours}, the file has {theirs} in {escape(name, limit=1_000)}" in said) == (1, True), said


def written(network: Network, path: str = "") -> str:
    """Return a network as a spec, each layer with the path that a number in `path` gives it, if any is given."""
    lines = [f"convention: {network.convention}", f"input: {network.input}", f"topology: {network.topology}", "layers:"]
    for number, place in enumerate(network.stack):
        layer = place.layer
        fields = {layer.kind: getattr(layer, layer.number)} | {
            key: value
            for key, value in layer.values().items()
            if key != layer.number and value != layer.defaults.get(key) and key not in ("tied", "name")
        }
        if path and place.params:
            fields["path"] = path.format(number)
        lines.append(f"  - {{{', '.join(f'{key}: {str(value).lower()}' for key, value in fields.items())}}}")
    return "\n".join(lines) + "\n"


def flow_of(network: Network) -> Any:
    """Return a sequence to feed a network with: vectors in float32, or the numbers of tokens."""
    first, steps = network.stack[0], network.steps or 1
    random = np.random.default_rng(1)
    if first.layer.kind == "embedding":
        return random.integers(first.inputs, size=steps)
    return random.uniform(-1, 1, (steps, first.inputs)).astype(np.float32)


def runs_to(spec: Path, weights: Path, flow: Any, theirs: Any, *options: str, within: float = 1e-4) -> None:
    """Assert that a run with the weights of a file gives what the framework gives for the same sequence."""
    inputs = spec.with_name("inputs.yaml")
    inputs.write_text(json.dumps(flow.tolist()))
    code, out = called("run", spec, "--weights", weights, "--inputs", inputs, "-f", "json", *options)
    assert code == 0, f"{out}\n{spec.read_text()}"
    np.testing.assert_allclose(json.loads(out)["reports"][0]["outputs"], theirs, rtol=within, atol=within / 10)
