"""Settings come from the environment: a bad value stops the start with a sentence that names it."""

import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off", ""}


def env_str(name: str, default: str = "", *, choices: tuple[str, ...] = ()) -> str:
    value = os.environ.get(name, default)
    if choices and value not in choices:
        raise _bad(name, value, f"one of {', '.join(choices)}")
    return value


def env_int(name: str, default: int, *, at_least: int = 0) -> int:
    value = os.environ.get(name, "") or str(default)
    try:
        number = int(value)
    except ValueError:
        raise _bad(name, value, "a whole number") from None
    if number < at_least:
        raise _bad(name, value, f"at least {at_least}")
    return number


def env_float(name: str, default: float, *, low: float = 0.0, high: float = 1.0) -> float:
    value = os.environ.get(name, "") or str(default)
    try:
        number = float(value)
    except ValueError:
        raise _bad(name, value, "a number") from None
    if not low <= number <= high:
        raise _bad(name, value, f"a number from {low} to {high}")
    return number


def env_bool(name: str, *, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() in YES:
        return True
    if value.lower() in NO:
        return False
    raise _bad(name, value, "1 or 0")


def env_list(name: str, default: str = "") -> list[str]:
    """Comma-separated; blanks are dropped."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def env_prices(name: str) -> dict[str, list[float]]:
    """Return {model: [prompt, completion]} of "model=0.25/2,other=1/8": money a million tokens."""
    prices: dict[str, list[float]] = {}
    for part in env_list(name):
        model, _, pair = part.rpartition("=")
        try:
            prompt, completion = pair.split("/")
            prices[model] = [float(prompt), float(completion)]
        except ValueError:
            raise _bad(name, part, "model=prompt/completion, like small=0.25/2") from None
    return prices


def secret(name: str, *, required: bool = False) -> str:
    """Return NAME, or the first line of the file that NAME_FILE names; "" when neither is set."""
    path = os.environ.get(f"{name}_FILE")
    if not path:
        value = os.environ.get(name, "")
        if required and not value:
            raise ImproperlyConfigured(f"{name} is missing: set it, or {name}_FILE.")
        return value
    try:
        return Path(path).read_text(encoding="utf-8").partition("\n")[0].strip()
    except OSError as error:
        raise _bad(f"{name}_FILE", path, f"a file that can be read ({error.strerror})") from None


def database_from_url(name: str, url: str) -> dict[str, object]:
    """Return Django's description of postgres://user:password@host:port/database?sslmode=require."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        # The URL holds a password: only its beginning may be shown.
        raise _bad(name, f"{parts.scheme}://...", "postgres://user:password@host:port/database")
    options: dict[str, object] = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or "") or options.pop("host", ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }


def _bad(name: str, value: str, wanted: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name} is {value!r}, which should be {wanted}.")
