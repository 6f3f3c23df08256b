# The web process and the worker of a production set-up; compose.yaml shows both.
FROM python:3.11-slim-bookworm AS build
WORKDIR /app
COPY config/requirements/uv.txt config/requirements/base.txt /tmp/
RUN python -m venv /app/.venv \
 && /app/.venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/uv.txt \
 && /app/.venv/bin/uv pip install --python /app/.venv/bin/python --no-cache --compile-bytecode \
    --require-hashes -r /tmp/base.txt

FROM python:3.11-slim-bookworm
RUN useradd --system --create-home --home-dir /var/lib/rapport rapport
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 \
    RAPPORT_VAR=/var/lib/rapport RAPPORT_STATIC_ROOT=/app/staticfiles
WORKDIR /app
COPY --from=build /app/.venv /app/.venv
COPY . /app
# Static files need settings, and settings a key and hosts: these are thrown away with the layer's shell.
RUN DATABASE_URL=postgres://u@localhost/x REDIS_URL=redis://localhost RAPPORT_HOSTS=localhost \
    RAPPORT_SECRET_KEY=only-for-this-step python manage.py collectstatic --no-input
USER rapport
EXPOSE 8000
# X-Forwarded-For is believed from RAPPORT_PROXIES alone: from anybody, it would get round the throttles.
CMD ["sh", "-c", "exec uvicorn config.asgi:application --host 0.0.0.0 --port 8000 \
     --lifespan off --no-access-log --timeout-graceful-shutdown 10 \
     --proxy-headers --forwarded-allow-ips \"${RAPPORT_PROXIES:-127.0.0.1}\""]
