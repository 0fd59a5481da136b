import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.ui.state import DEFAULTS, from_link, not_followed, to_link

MODELS = {"all-MiniLM-L6-v2", "SmolLM2-135M-Instruct"}
CORPORA = {"encyclopedia", "probes"}


def test_a_link_carries_what_differs_from_the_defaults():
    values = DEFAULTS | {"layer": 4, "head": 11, "corpus": "probes", "special": False}
    assert to_link(values, MODELS, CORPORA) == {"corpus": "probes", "layer": "4", "head": "11", "special": "0"}


def test_the_users_own_model_and_text_stay_out_of_the_link():
    values = DEFAULTS | {"model": "models/mine", "corpus": "own-1a2b3c4d5e6f", "layer": 3}
    assert to_link(values, MODELS, CORPORA) == {"layer": "3"}


@pytest.mark.parametrize(
    "hostile",
    [
        {"model": "../../secret"},
        {"model": "owner/some-large-model"},
        {"corpus": "own-1a2b3c4d5e6f"},
        {"layer": "-1"},
        {"layer": "1e9"},
        {"layer": "999999999"},
        {"head": "٣"},
        {"special": "yes"},
        {"device": "cuda; rm"},
        {"booted": "1"},
        {"own_texts": "x"},
    ],
)
def test_what_a_link_may_not_say_is_dropped(hostile):
    assert from_link(hostile, MODELS, CORPORA) == {}


@given(
    st.fixed_dictionaries(
        {
            "model": st.sampled_from(sorted(MODELS)),
            "corpus": st.sampled_from(sorted(CORPORA)),
            "device": st.sampled_from(["auto", "cpu"]),
            "dtype": st.sampled_from(["float32", "bfloat16"]),
            "document": st.integers(0, 9999),
            "tokens": st.integers(0, 9999),
            "layer": st.integers(0, 99),
            "head": st.integers(0, 99),
            "special": st.booleans(),
        }
    )
)
def test_a_link_brings_the_same_choice_back(values):
    assert DEFAULTS | from_link(to_link(values, MODELS, CORPORA), MODELS, CORPORA) == values


def test_a_document_of_an_own_text_is_not_taken_for_one_of_another_corpus():
    values = DEFAULTS | {"corpus": "own-abc", "document": 120, "layer": 3}
    assert to_link(values, MODELS, CORPORA) == {"layer": "3"}


def test_a_link_to_what_is_not_here_says_so_without_markup():
    known = {"model": next(iter(MODELS)), "corpus": next(iter(CORPORA))}
    assert not_followed(known, MODELS, CORPORA) == []
    assert not_followed({}, MODELS, CORPORA) == []
    model, text = not_followed({"model": "[a](b)</script>" + "x" * 99, "corpus": "mine"}, MODELS, CORPORA)
    assert model.startswith("The link asks for the model “ab/scriptx") and len(model) < 140
    assert text == "The link asks for the text “mine”, which is not here: a built-in one is shown."
