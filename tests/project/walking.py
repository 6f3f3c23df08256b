"""What a walk through the whole product needs: browsers without a screen, and words to look for."""

from __future__ import annotations

import http.cookiejar
import itertools
import json
import re
import string
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from django.urls import resolve, reverse

MARK = re.compile(r"zorvak[a-z]{3}", re.IGNORECASE)
# A notice of the desk that something was not done; its frame has one for a lost connection.
_REFUSED = re.compile(
    r'<p class="notice notice--(?:warn|danger)">.*?<span class="grow">([^<]*)'
    r'|<li class="(?:warning|error)">(?!The key is)([^<]*)'
    r'|class="(?:errornote|errorlist[^"]*)"[^>]*>(.{0,300})',
    re.S,
)
UNTOLD: Any = object()
TYPED = {"text", "search", "email", ""}  # types of <input> that take words


class Marks:
    """Words that nobody else writes, each with the place that it was written at."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        self._endings = itertools.product(string.ascii_lowercase, repeat=3)

    def at(self, place: str) -> str:
        mark = "zorvak" + "".join(next(self._endings))
        self.places[mark] = place
        return mark

    def found_in(self, text: str) -> set[str]:
        """The places whose words are in `text`."""
        return {self.places[word.lower()] for word in MARK.findall(text)}


class Browser:
    """Cookies, forms and their tokens; what is refused is an answer as well."""

    forms: dict[str, set[str]] = defaultdict(set)  # by name of the address: its fields for words
    posted: dict[str, set[str]] = defaultdict(set)  # by name of the address: fields with a mark

    def __init__(self, base: str, marks: Marks) -> None:
        self.base, self.marks = base, marks
        self.told: list[tuple[str, str]] = []  # every page and frame that came
        self.cookies = http.cookiejar.CookieJar()
        handler = urllib.request.HTTPCookieProcessor(self.cookies)
        self._opener = urllib.request.build_opener(handler)

    def get(self, path: str) -> str:
        status, text = self._open(urllib.request.Request(self.base + path))
        assert status < 500, f"{path} failed"
        for action, fields in _Forms.of(text, path):
            self.forms[_name(action)] |= fields
        return text

    def post(
        self,
        name: str,
        /,
        *args: object,
        of: str = "",
        twice: bool = False,
        anyhow: bool = False,
        **fields: Any,
    ) -> str:
        """Post to the address of that name. `of`: fields that get a mark, told in one string.

        `anyhow`: that it is said no to, in words, is no fault.
        """
        path = reverse(name, args=args)
        marked = {field: self.mark(f"{name} {field}") for field in of.split()}
        sent = fields | {k: v.format(mark=marked[k]) for k, v in fields.items() if k in marked}
        data = urllib.parse.urlencode(
            {**marked, **sent, "csrfmiddlewaretoken": self.cookie("csrftoken")}, doseq=True
        )
        request = urllib.request.Request(
            self.base + path, data.encode(), {"Referer": self.base + path}
        )
        status, text = self._open(request)
        if twice:
            status, text = self._open(request)
        assert status < (500 if anyhow else 400), f"{path} said {status}: {text}"
        refused = _REFUSED.findall(text)
        assert anyhow or not refused, f"{path} said: {refused}"
        self.posted[name] |= {*marked, str(fields.get("action", ""))}
        return text

    def mark(self, place: str) -> str:
        return self.marks.at(place)

    def cookie(self, name: str) -> str:
        return next((str(c.value) for c in self.cookies if c.name == name), "")

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=60) as response:
                status, text = response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        self.told.append((f"page {request.selector}", text))
        return status, text


class Program:
    """A caller of the API, which fills every text of what an operation takes with a mark."""

    def __init__(self, base: str, schema: dict[str, Any], marks: Marks, *keys: str) -> None:
        self.base, self.schema, self.marks, self.keys = base, schema, marks, keys
        self.called: set[str] = set()
        self.told: list[tuple[str, str]] = []  # every response

    def call(
        self,
        operation: str,
        path: dict[str, Any] | None = None,
        /,
        *,
        refused: bool = False,
        **told: Any,
    ) -> Any:
        """`told`: what is not for a mark, or has words around it: "{mark}"."""
        method, template = operation.split(" ")
        about = self.schema["paths"][template][method.lower()]
        address, query = template, {}
        for given in about.get("parameters", ()):
            value = (path or {}).get(given["name"])
            if value is None and given["schema"].get("type") == "string":
                value = self.marks.at(f"{operation} {given['name']}")
            if given["in"] == "path":
                address = address.replace(f"{{{given['name']}}}", urllib.parse.quote(str(value)))
            elif value is not None:
                query[given["name"]] = value
        body = about.get("requestBody")
        data = None
        if body:
            takes = body["content"]["application/json"]["schema"]
            data = json.dumps(self._fill(takes, operation, told)).encode()
        self.called.add(operation)
        said = self._send(method, f"{address}?{urllib.parse.urlencode(query)}", data, refused)
        self.told.append((operation, json.dumps(said)))
        return said

    def _fill(self, schema: dict[str, Any], where: str, told: Any = UNTOLD) -> Any:
        """Fill in a schema: what is `told` stands, words get marks, the rest is left out."""
        if "$ref" in schema:
            schema = self.schema["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if "anyOf" in schema:
            schema = next(one for one in schema["anyOf"] if one.get("type") != "null")
            return self._fill(schema, where, told)
        if isinstance(told, str):
            return told.replace("{mark}", self.marks.at(where)) if "{mark}" in told else told
        if isinstance(told, list):
            return [self._fill(schema.get("items", {}), f"{where}[]", one) for one in told]
        if told is not UNTOLD and not isinstance(told, dict):
            return told
        kind = schema.get("type")
        if kind == "string" and not {"enum", "const", "format"} & set(schema):
            return self.marks.at(where)
        if kind == "array":
            filled = self._fill(schema["items"], f"{where}[]")
            return None if filled is None else [filled]
        if kind == "object" and "properties" in schema:
            given = {} if told is UNTOLD else told
            made = {
                name: self._fill(of, f"{where} {name}", given.get(name, UNTOLD))
                for name, of in schema["properties"].items()
            }
            return {name: value for name, value in made.items() if value is not None}
        return {"note": self.marks.at(where)} if kind == "object" else None

    def _send(self, method: str, address: str, data: bytes | None, refused: bool) -> Any:
        said = ""
        for key in self.keys:  # of the desk, and an agent's
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            request = urllib.request.Request(
                self.base + address, data, headers, method=method.upper()
            )
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    return json.loads(response.read() or b"null")
            except urllib.error.HTTPError as error:
                said = f"{method} {address} said {error.code}: {error.read().decode()}"
                if error.code == 422 and refused:
                    return None
                if error.code != 403:
                    break
        raise AssertionError(said)


class _Forms(HTMLParser):
    """The forms of a page that write, each with its fields for words."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path, self.found = path, list[tuple[str, set[str]]]()
        self.ids: dict[str, set[str]] = {}

    @classmethod
    def of(cls, html: str, path: str) -> Iterator[tuple[str, set[str]]]:
        forms = cls(path)
        forms.feed(html)
        yield from forms.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "form":
            writes = has.get("method", "").lower() == "post"
            action = urllib.parse.urljoin(self.path, has.get("action", "") or self.path)
            self.fields: set[str] = set()
            if writes:
                self.found.append((urllib.parse.urlparse(action).path, self.fields))
        typed = tag == "textarea" or (tag == "input" and has.get("type", "text") in TYPED)
        if typed and has.get("name") and hasattr(self, "fields"):
            self.fields.add(has["name"])


def _name(path: str) -> str:
    return resolve(path).view_name
