"""What uvicorn serves: pages over HTTP, chat and inbox over sockets."""

import os
import sys
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

from config.warmup import get_ready_meanwhile

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# The loop waits at most so long for a thread that computes: an ack needs it several times.
sys.setswitchinterval(0.0005)  # seconds
http = get_asgi_application()  # loads the apps: whatever imports a model comes after it

import chat.routing  # noqa: E402 - after the apps are loaded
import escalations.routing  # noqa: E402

sockets: list[Any] = [
    *chat.routing.websocket_urlpatterns,
    *escalations.routing.websocket_urlpatterns,
]

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(sockets))),
    }
)

get_ready_meanwhile()
