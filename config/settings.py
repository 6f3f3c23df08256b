"""All settings, each from the environment; README.md documents each (a test compares the two)."""

import os
from pathlib import Path

import django_stubs_ext
from csp.constants import NONE, SELF

from config import embedded
from config.env import (
    database_from_url,
    env_bool,
    env_float,
    env_int,
    env_list,
    env_prices,
    env_str,
    secret,
)

django_stubs_ext.monkeypatch()
# Read when numpy is first imported. Our matrices are small: a second thread only spins beside the
# first, for two thirds of the time that a new answer costs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = embedded.var_dir()  # data of the embedded servers, secret key, beat schedule

DATABASE_URL = secret(
    "DATABASE_URL"
)  # postgres://user:password@host/name; empty: embedded PostgreSQL
REDIS_URL = secret("REDIS_URL")  # channel layer and cache; empty: embedded Valkey
EMBEDDED_DATABASE = not DATABASE_URL
EMBEDDED_BROKER = not REDIS_URL
PRODUCTION = not EMBEDDED_DATABASE  # somebody else's database means somebody's real data

DEBUG = env_bool("RAPPORT_DEBUG", default=False)
RAPPORT_DEMO = env_bool(
    "RAPPORT_DEMO", default=not PRODUCTION
)  # demo data and the page of demo customers
RAPPORT_PORT = env_int(
    "RAPPORT_PORT", 8000, at_least=1
)  # where `manage.py up` listens, on 127.0.0.1
RAPPORT_HTTPS = env_bool("RAPPORT_HTTPS", default=PRODUCTION)  # secure cookies, redirect, HSTS
ALLOWED_HOSTS = env_list("RAPPORT_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list(
    "RAPPORT_ORIGINS", ",".join(f"https://{host}" for host in ALLOWED_HOSTS)
)
SECRET_KEY = secret("RAPPORT_SECRET_KEY", required=PRODUCTION) or embedded.secret_key()

RAPPORT_ACCENT = env_str("RAPPORT_ACCENT", "#0b665c")  # the business's colour, #rrggbb

# --- Memory: one line each, env_…("MEMORY_…", default)  # unit -----------------------------------
MEMORY_REVIEW_DAYS = env_int("MEMORY_REVIEW_DAYS", 180, at_least=1)  # then an answer is stale
MEMORY_WAIT_MS = env_int("MEMORY_WAIT_MS", 1500)  # recall waits so long for the worker
MEMORY_RECALLED = env_int("MEMORY_RECALLED", 5, at_least=1)  # facts in one "Past context"
# What recall ranks by; only the proportion counts.
MEMORY_RELEVANCE = env_float("MEMORY_RELEVANCE", 0.5)
MEMORY_RECENCY = env_float("MEMORY_RECENCY", 0.3)
MEMORY_IMPORTANCE = env_float("MEMORY_IMPORTANCE", 0.2)
MEMORY_SURE = env_float("MEMORY_SURE", 0.4)  # less certain statements wait for a person
MEMORY_PREFERENCE_DAYS = env_int("MEMORY_PREFERENCE_DAYS", 365, at_least=1)  # half-life
MEMORY_FACT_DAYS = env_int("MEMORY_FACT_DAYS", 730, at_least=1)  # half-life
MEMORY_EPISODE_DAYS = env_int("MEMORY_EPISODE_DAYS", 180, at_least=1)  # half-life
MEMORY_FORGET_BELOW = env_float("MEMORY_FORGET_BELOW", 0.05)  # strength, 1 when confirmed
MEMORY_CONFLICT_HOURS = env_int("MEMORY_CONFLICT_HOURS", 24, at_least=1)  # till a card is due
MEMORY_ERASE_DAYS = env_int("MEMORY_ERASE_DAYS", 30, at_least=1)  # till an erase request is due

# --- Chat: one line each, env_…("CHAT_…", default)  # unit ---------------------------------------
# Then a chat that only the bot has ends.
CHAT_IDLE_MINUTES = env_int("CHAT_IDLE_MINUTES", 30, at_least=1)
# Then one that waits for a person is put aside, for memory to read; the answer is still owed.
CHAT_WAITING_HOURS = env_int("CHAT_WAITING_HOURS", 72, at_least=1)
CHAT_FLUSH_MESSAGES = env_int("CHAT_FLUSH_MESSAGES", 40, at_least=2)  # then memory reads them
CHAT_TURN_SECONDS = env_int("CHAT_TURN_SECONDS", 14, at_least=1)  # the longest an answer may take
CHAT_ANSWER_DUE_SECONDS = env_int("CHAT_ANSWER_DUE_SECONDS", 18, at_least=1)  # then a person has it
CHAT_BURST_MS = env_int("CHAT_BURST_MS", 900)  # an unfinished message waits so long for the rest
CHAT_TURNS_PER_PERSON = env_int("CHAT_TURNS_PER_PERSON", 40, at_least=1)  # turns, then a person
CHAT_VISITOR_PER_MINUTE = env_int("CHAT_VISITOR_PER_MINUTE", 20, at_least=1)  # messages
CHAT_ADDRESS_PER_MINUTE = env_int("CHAT_ADDRESS_PER_MINUTE", 120, at_least=1)  # messages
CHAT_VISITORS_PER_MINUTE = env_int("CHAT_VISITORS_PER_MINUTE", 60, at_least=1)  # of one address
CHAT_MAILS_PER_HOUR = env_int("CHAT_MAILS_PER_HOUR", 5, at_least=1)  # to one typed address
CHAT_VISITOR_DAYS = env_int("CHAT_VISITOR_DAYS", 30, at_least=1)  # a browser is remembered so long
CHAT_LINK_DAYS = env_int("CHAT_LINK_DAYS", 7, at_least=1)  # the link back in an e-mail
CHAT_IDENTITY_SECRET = secret("CHAT_IDENTITY_SECRET")  # HS256, shared with your site; empty: none
CHAT_IDENTITY_AUDIENCE = env_str("CHAT_IDENTITY_AUDIENCE", "rapport")  # "aud" of its tokens
CHAT_IDENTITY_MINUTES = env_int("CHAT_IDENTITY_MINUTES", 60, at_least=1)  # their longest life


# --- Escalations: one line each, env_…("DESK_…", default)  # unit --------------------------------
# Hours without a word after staff's last one; then the claim ends and memory reads the chat.
DESK_SILENT_HOURS = env_int("DESK_SILENT_HOURS", 24, at_least=1)
DESK_PUBLIC_URL = env_str(
    "DESK_PUBLIC_URL",
    CSRF_TRUSTED_ORIGINS[0] if PRODUCTION and ALLOWED_HOSTS else f"http://127.0.0.1:{RAPPORT_PORT}",
)  # the address of this installation, for links in mails

# --- Models: offline unless a key is given -------------------------------------------------------
OPENAI_API_KEY = secret("OPENAI_API_KEY")  # empty: the offline engine, which generates no text
OPENAI_BASE_URL = env_str("OPENAI_BASE_URL", "https://api.openai.com/v1")
OPENAI_ANSWER_MODEL = env_str("OPENAI_ANSWER_MODEL", "gpt-5.4-mini")
OPENAI_KNOWLEDGE_MODEL = env_str("OPENAI_KNOWLEDGE_MODEL", "gpt-5.4-mini")  # reads closed chats
OPENAI_GATE_MODEL = env_str("OPENAI_GATE_MODEL", "gpt-5.4-nano")  # asked where the gate is unsure
OPENAI_EMBEDDING_MODEL = env_str("OPENAI_EMBEDDING_MODEL")  # empty: MiniLM, on this machine
OPENAI_EMBEDDING_BASE_URL = env_str("OPENAI_EMBEDDING_BASE_URL", OPENAI_BASE_URL)
OPENAI_EMBEDDING_API_KEY = secret("OPENAI_EMBEDDING_API_KEY") or OPENAI_API_KEY
OPENAI_TOKENS_PER_TURN = env_int("OPENAI_TOKENS_PER_TURN", 8_000, at_least=100)
OPENAI_TOKENS_PER_CONVERSATION = env_int("OPENAI_TOKENS_PER_CONVERSATION", 80_000, at_least=100)
OPENAI_PRICES = env_prices("OPENAI_PRICES")  # model=prompt/completion a million tokens, …

# --- Tools: read-only, from hosts named here -----------------------------------------------------
CHAT_TOOL_HOSTS = env_list("CHAT_TOOL_HOSTS")  # the only hosts that tools may read
CHAT_TOOL_PRIVATE_HOSTS = env_list("CHAT_TOOL_PRIVATE_HOSTS")  # those of them on a private net
CHAT_TOOL_CALLS = env_int("CHAT_TOOL_CALLS", 4, at_least=1)  # in one turn

# --- Django --------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "config",
    "config.office.OfficeConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "csp",
    "django_htmx",
    "ninja",  # serves the API's documentation from our own static files
    "memory",
    "chat",
    "escalations",
]
MIDDLEWARE = [
    "config.health.Health",
    "config.refusals.InShape",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.refusals.Unstorable",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True

# --- Database ------------------------------------------------------------------------------------
if EMBEDDED_DATABASE:
    DATABASES = {"default": embedded.postgres().django_database()}
else:
    DATABASES = {"default": database_from_url("DATABASE_URL", DATABASE_URL)}
# Sockets take a connection per query from many threads: without a pool each reconnects (6 ms).
DATABASES["default"]["OPTIONS"] |= {
    "pool": {"min_size": 1, "max_size": env_int("RAPPORT_DB_POOL", 10, at_least=2), "timeout": 10}
}
DATABASES["default"]["CONN_MAX_AGE"] = 0
DATABASES["default"]["CONN_HEALTH_CHECKS"] = (
    True  # a restarted server costs one check, not one failed request
)

# --- Valkey: channel layer, cache, broker --------------------------------------------------------
CHANNEL_URL = REDIS_URL or embedded.valkey().url
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [CHANNEL_URL]},
    }
}
# Sockets share it for throttling. It may be away: whoever uses it goes on without.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CHANNEL_URL,
        "KEY_PREFIX": "rapport",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},  # seconds
    }
}
CELERY_BROKER_URL = secret("CELERY_BROKER_URL") or REDIS_URL or embedded.valkey().broker_url
# A broker that is away must fail a publish in two seconds: a sweep takes what it missed.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1,  # seconds
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.2,
} | ({"confirm_publish": True} if CELERY_BROKER_URL.startswith("amqp") else {"socket_timeout": 5})
CELERY_BROKER_CONNECTION_TIMEOUT = 2  # seconds
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # the worker waits for its broker for ever
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ALWAYS_EAGER = env_bool("CELERY_TASK_ALWAYS_EAGER", default=False)
CELERY_TASK_TIME_LIMIT = env_int("CELERY_TASK_TIME_LIMIT", 300, at_least=1)  # seconds
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60  # seconds; it loads a model before it says that it is up
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_TIMEZONE = "UTC"

# --- Static files --------------------------------------------------------------------------------
STATIC_URL = "/static/"
# The folder that collectstatic fills; the embedded mode serves files from where they are written.
STATIC_ROOT = env_str("RAPPORT_STATIC_ROOT", str(BASE_DIR / "staticfiles") if PRODUCTION else "")
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = DEBUG
if PRODUCTION:
    STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }

# --- Security ------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],  # covers the page's own WebSocket too
        "frame-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = RAPPORT_HTTPS
SESSION_COOKIE_AGE = env_int("RAPPORT_SESSION_HOURS", 12, at_least=1) * 3600  # staff sign-in
SESSION_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = RAPPORT_HTTPS
SECURE_HSTS_SECONDS = env_int("RAPPORT_HSTS_DAYS", 30) * 86400 if RAPPORT_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = RAPPORT_HTTPS
if RAPPORT_HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/inbox/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]

# --- Mail and logs -------------------------------------------------------------------------------
EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if os.environ.get("EMAIL_HOST")
    else "django.core.mail.backends.console.EmailBackend"
)
EMAIL_HOST = env_str("EMAIL_HOST")  # empty: mails are printed
EMAIL_PORT = env_int("EMAIL_PORT", 587, at_least=1)
EMAIL_HOST_USER = env_str("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = secret("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", default=True)
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env_str("RAPPORT_FROM_EMAIL", "support@localhost")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "filters": {"not_of_health": {"()": "config.logs.NotOfHealth"}},
    "loggers": {"django.request": {"filters": ["not_of_health"]}},
    "root": {
        "handlers": ["console"],
        "level": env_str(
            "RAPPORT_LOG_LEVEL", "WARNING", choices=("DEBUG", "INFO", "WARNING", "ERROR")
        ),
    },
}
