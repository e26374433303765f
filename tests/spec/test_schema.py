"""The JSON Schema of a spec: what the reader accepts it accepts, and it refuses what a schema can see."""

import json
from pathlib import Path
from typing import Any

import yaml
from conftest import Call
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from strategies import Spec, encoder_decoder, network

from rnncalc.layers.options import OPTIONS
from rnncalc.spec import parse
from rnncalc.spec.schema import schema

VALIDATOR = Draft202012Validator(schema())


def loaded(path: Path) -> Any:
    """Return what another YAML reader makes of a file, None when it cannot."""
    try:
        return yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


UNSEEN = {*Path(__file__).with_name("unseen.txt").read_text(encoding="utf-8").split()}
"""Faults that hang on more than one value, or that are gone once YAML is read: tags, repeated keys, the encoding."""


def test_the_metaschema_accepts_it(call: Call) -> None:
    """What the command prints is the schema, and a JSON Schema of 2020-12."""
    printed = json.loads(call("schema").out)
    assert printed == schema()
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(printed)


def test_a_spec_validates() -> None:
    """Every worked example is valid."""
    for path in Path("specs").glob("*.yaml"):
        VALIDATOR.validate(loaded(path))


def test_a_bad_spec_is_refused() -> None:
    """Every bad spec is refused that another YAML reader can read, but for those whose fault no schema can see."""
    read = {path.stem: loaded(path) for path in Path("tests/bad_specs").glob("*.yaml")}
    assert {name for name, value in read.items() if value is not None and VALIDATOR.is_valid(value)} == UNSEEN


@given(st.one_of(network(), encoder_decoder()), st.data())
def test_what_the_reader_accepts_validates(spec: Spec, data: st.DataObject) -> None:
    """Random networks over every option, with what else a spec may say."""
    more = {
        "name": st.sampled_from(["a", 5, True, "no", "ü"]),
        "source": st.just("a book"),
        "convention": st.just("textbook"),
        "expect": st.sampled_from([0, 5, {"total": 5}, {"layers": []}, {"saved": 5, "backward_multiply_adds": 0}, {}]),
        "budget": st.fixed_dictionaries(
            {},
            optional={
                "max_params": st.sampled_from([0, 5, "1M", "2.5k", "1_000", "3Gi"]),
                "max_bytes": st.sampled_from([0, 5, "1MB", "2.5kB", "4B", "4MiB"]),
                "max_multiply_adds": st.sampled_from([0, "10M"]),
                "min_dense_ratio": st.sampled_from([0, 4, 4.5]),
            },
        ),
        "training": st.fixed_dictionaries(
            {}, optional={"chunk": st.sampled_from([1, 35]), "batch": st.just(8), "optimizer": st.just("adam")}
        ),
        "input": st.sampled_from([5, "1_000"]),
    }
    drawn = data.draw(st.fixed_dictionaries({}, optional=more))
    if "encoder" in spec:
        drawn.pop("input", None)
    spec = spec | drawn
    text = yaml.safe_dump(spec).replace("'1_000'", "1_000").replace("'no'", "no")
    try:
        parse(text.encode(), "spec")
    except ValueError:
        return  # an expect of the wrong length
    VALIDATOR.validate(spec)


def test_every_option_is_in_it() -> None:
    """No option that the reader knows is missing, and each has a description."""
    kinds = [of for name, of in schema()["$defs"].items() if name not in ("part", "output", "layers")]
    described = {key: of for kind in kinds for key, of in kind["properties"].items() if "description" in of}
    missing = {*OPTIONS} - {*described} - {"units", "rate", "params", "tied"}
    assert not missing


def test_the_test_of_the_schema_can_fail() -> None:
    """A schema that is not the reader's refuses what it accepts."""
    wrong = schema()
    wrong["$defs"]["lstm"]["properties"].pop("peepholes")
    spec = {"input": 3, "layers": [{"lstm": 3, "peepholes": True}]}
    assert VALIDATOR.is_valid(spec)
    assert not Draft202012Validator(wrong).is_valid(spec)
