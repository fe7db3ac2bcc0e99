# The daemon in an image: built in one stage, run in another that has neither compiler nor cache.
#   docker build -t controlplane:0.1.0 .
#   docker run --read-only --tmpfs /tmp -v store:/var/lib/controlplane -p 127.0.0.1:8080:8080 controlplane:0.1.0
# syntax is plain Dockerfile: no front end is fetched.
ARG PYTHON=3.11-slim-bookworm
ARG NODE=24-bookworm-slim

# The front end's files, as package-lock.json pins them.
FROM node:${NODE} AS vendor
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY web/vendor.mjs web/vendor.mjs
RUN npm ci --silent --no-audit --no-fund && node web/vendor.mjs

# One folder with everything, at the path it is run from. Every package is checked against the hash
# that requirements.lock has of it.
FROM python:${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
COPY pyproject.toml requirements.lock deploy/image/locked.py ./
RUN python locked.py product > product.lock && python locked.py build > build.lock \
 && python -m venv /opt/controlplane \
 && /opt/controlplane/bin/python -m pip install --require-hashes -r product.lock \
 && python -m venv /build \
 && /build/bin/python -m pip install --require-hashes -r build.lock
COPY README.md LICENSE CHANGELOG.md ./
COPY controlplane controlplane
COPY migrations migrations
COPY web web
COPY deploy deploy
COPY --from=vendor /src/web/static/vendor web/static/vendor
RUN /build/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /wheel . \
 && /opt/controlplane/bin/python -m pip install --no-deps --no-index /wheel/*.whl \
 && /opt/controlplane/bin/python -m pip uninstall --yes pip setuptools \
 && python -m compileall -q -s /opt /opt/controlplane/lib

FROM python:${PYTHON}
LABEL org.opencontainers.image.title="controlplane" \
      org.opencontainers.image.description="Keeps fleets of AI-model servers right-sized, warm, isolated, admitted by priority and accounted for." \
      org.opencontainers.image.licenses="Apache-2.0"
# A number, for Kubernetes to see that it is not root; nobody logs in.
RUN groupadd --gid 65532 controlplane \
 && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin controlplane \
 && install -d -o 65532 -g 65532 -m 0700 /var/lib/controlplane
COPY --from=build /opt/controlplane /opt/controlplane
ENV PATH=/opt/controlplane/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    CONTROLPLANE_DATA=/var/lib/controlplane
USER 65532:65532
WORKDIR /
VOLUME /var/lib/controlplane
EXPOSE 8080 10080
# SIGTERM ends it within a second, and hands its lease over.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["controlplane"]
CMD ["serve"]
