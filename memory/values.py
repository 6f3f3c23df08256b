"""Comparing what was said with what is known: the same in other words, more exact, opposed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

Alike = Callable[[str, str], float]  # how near two texts are in meaning, in [-1, 1]

ALIKE_ENOUGH = 0.92  # of two values that already share a word, all their numbers and their polarity
CLAUSE = "; "  # between the clauses of a merged value

_WORD = re.compile(r"[^\W_]+(?:['’.\-/:@+#&][^\W_]+)*")


def _set(line: str) -> frozenset[str]:
    return frozenset(line.split())


_FILLERS = _set(
    "a an the my our your his her their me i im we us you it its is are be am was to of for with "
    "at by on in and or that this please pls prefer prefers preferred like likes would love best "
    "better always usually now still just really have has had got get go goes use uses using want "
    "wants can do does customer how they them what which who there"
)
_DENIALS = _set(
    "not no never nor none nothing neither without except avoid cannot cant dont wont doesnt "
    "isnt arent didnt nicht kein keine keinen nie ohne nunca sin ni jamas pas jamais sans nao "
    "sem non mai senza"
)
_BETWEEN = re.compile(
    r";\s+|,?\s+but\s+(?=\w)|,\s+(?=(?:just )?(?:not|no|never|nothing|without|except)\b)", re.I
)
_DENYING_END = re.compile(r"n['’]t\b")


def fold(text: str) -> str:
    """Casefold, without accents, white space folded."""
    if text.isascii():
        return " ".join(text.casefold().split())
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split())


def words(text: str) -> frozenset[str]:
    """Return the words that carry a value: no fillers, denials or plurals; codes bare."""
    found = (_plain(w) for w in _WORD.findall(fold(text)))
    return frozenset(w for w in found if w and w not in _FILLERS and w not in _DENIALS)


def denies(text: str) -> bool:
    low = fold(text)
    return bool(_DENYING_END.search(low)) or any(_bare(w) in _DENIALS for w in _WORD.findall(low))


def numbers(text: str) -> str:
    """All digits in order: two values that differ in one are two values."""
    return "".join(c for c in text if c.isdigit())


def same(a: str, b: str, alike: Alike | None = None) -> bool:
    """Do both say the same? Numbers and polarity must agree; likeness alone never decides."""
    if fold(a) == fold(b):
        return True
    if sorted(numbers(a)) != sorted(numbers(b)) or denies(a) != denies(b):
        return False
    mine, other = words(a), words(b)
    if (code := _code(a)) and code == _code(b):
        return True
    if not mine or not other:
        return False
    if mine == other:
        return True
    if _differ_by_slips(mine, other):
        return True
    return bool(mine & other) and alike is not None and alike(a, b) >= ALIKE_ENOUGH


def more_exact(new: str, old: str) -> bool:
    """Does `new` say all that `old` says, and something more?"""
    return denies(new) == denies(old) and bool(words(old)) and words(old) < words(new)


def covers(known: str, said: str) -> bool:
    """Is `said` a less exact way of saying `known`, or one clause of it?"""
    if any(same(clause, said) for clause in clauses(known)):
        return True
    return any(more_exact(clause, said) for clause in clauses(known))


def opposed(a: str, a_denied: bool, b: str, b_denied: bool) -> bool:
    """Does one deny what the other says?"""
    mine, other = words(a), words(b)
    return bool(mine and other) and a_denied != b_denied and (mine <= other or other <= mine)


def shown(value: str, negated: bool) -> str:
    """The value as it reads alone: a refusal stays one."""
    return f"not {value}" if negated and not denies(value) else value


def sentences(parts: Sequence[str]) -> str:
    ends = (".", "!", "?")
    return " ".join(p if p.endswith(ends) else f"{p}." for p in map(str.strip, parts))


def clauses(value: str) -> list[str]:
    """The parts that hold each by itself; a refusal behind a wish is one of its own."""
    return [c.strip() for c in _BETWEEN.split(value) if c.strip()]


def _bare(word: str) -> str:
    return word.replace("'", "").replace("’", "")


def _plain(word: str) -> str:
    word = re.sub(r"['’]s$", "", word)
    if any(c.isdigit() for c in word):
        return re.sub(r"[.\-/']", "", word)
    word = re.sub(r"['’\-]", "", word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _code(text: str) -> str:
    """Letters and digits alone, for a value that is mostly a number or an id; else empty."""
    plain = "".join(c for c in fold(text) if c.isalnum())
    return plain if len(numbers(plain)) >= max(4, len(plain) // 2) else ""


def _differ_by_slips(mine: frozenset[str], other: frozenset[str]) -> bool:
    left, right = sorted(mine - other), sorted(other - mine)
    return len(left) == len(right) > 0 and all(map(_slip, left, right))


def _slip(a: str, b: str) -> bool:
    """One letter left out, doubled or swapped in a long word; another one may be another name."""
    if min(len(a), len(b)) < 6 or any(c.isdigit() for c in a + b):
        return False
    if len(a) == len(b):
        return sorted(a) == sorted(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 2
    short, long = sorted((a, b), key=len)
    return len(long) - len(short) == 1 and any(
        long[:i] + long[i + 1 :] == short for i in range(len(long))
    )
