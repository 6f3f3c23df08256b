"""Vectors from an endpoint, against a scripted one over real HTTP."""

import numpy as np
import pytest

from memory.llm import embeddings
from memory.llm.base import Unavailable
from memory.llm.remote_embeddings import RemoteEmbedder
from tests.llm_server import ScriptedServer


@pytest.fixture
def server():
    with ScriptedServer() as server:
        yield server


def test_brings_one_unit_vector_a_text_in_order(server):
    one, two = RemoteEmbedder("small", server.url, "k").embed(["the red door", "opening hours"])

    assert np.isclose(np.linalg.norm(one), 1)
    assert one.shape == (512,)
    assert one @ two < one @ RemoteEmbedder("small", server.url, "k").embed(["a red door"])[0]


def test_says_that_it_could_not_be_reached():
    with pytest.raises(Unavailable):
        RemoteEmbedder("small", "http://127.0.0.1:9/v1", "k").embed(["hello"])


def test_the_setting_names_the_model_that_is_stored_beside_each_vector(server, settings):
    settings.OPENAI_EMBEDDING_MODEL = "small"
    settings.OPENAI_EMBEDDING_BASE_URL = server.url
    settings.OPENAI_EMBEDDING_API_KEY = "k"

    assert embeddings.embedder().model == "small"
    assert np.isclose(np.linalg.norm(embeddings.embed_one("opening hours")), 1)

    settings.OPENAI_EMBEDDING_MODEL = ""
    assert embeddings.embedder().model == embeddings.MODEL
