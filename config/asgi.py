"""What uvicorn serves: pages over HTTP, chat and inbox over sockets."""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

from config.warmup import load_the_embedder_meanwhile

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
http = get_asgi_application()  # loads the apps: whatever imports a model comes after it

sockets: list[Any] = []
for module in ("chat.routing", "escalations.routing"):
    if find_spec(module):
        sockets += import_module(module).websocket_urlpatterns

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(sockets))),
    }
)

load_the_embedder_meanwhile()
