"""The one API: each app brings a router, this file says where it hangs."""

from importlib import import_module
from importlib.util import find_spec

from ninja import NinjaAPI

api = NinjaAPI(
    title="Rapport",
    version="1",
    description="Conversations, answers and escalations, for programs of your own.",
)
for app in ("chat", "memory", "escalations"):
    if find_spec(f"{app}.api"):
        api.add_router("", import_module(f"{app}.api").router)
