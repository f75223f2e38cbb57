# nnc serve in a container: docker build -t nnc . && see docs/operations.md for how it is run.
#
# ENGINES are what models are measured on beside nnc; each adds its size to the image.
ARG PYTHON=python:3.11-slim-bookworm

FROM $PYTHON AS build
ARG ENGINES=onnxruntime
WORKDIR /src
RUN python -m venv /opt/nnc && /opt/nnc/bin/pip install --no-cache-dir --upgrade pip
COPY . .
RUN /opt/nnc/bin/pip install --no-cache-dir ".[serve,serve-postgresql,serve-s3,cross]" $ENGINES

FROM $PYTHON
COPY --from=build /opt/nnc /opt/nnc
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin nnc \
    && install --directory --owner=nnc --group=nnc --mode=700 /data
ENV PATH=/opt/nnc/bin:$PATH HOME=/data PYTHONUNBUFFERED=1
USER nnc
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD \
    ["python", "-c", "from urllib.request import urlopen as o; o('http://127.0.0.1:8080/healthz', timeout=4)"]
# What follows says where it is reached: `docker run .. nnc --url https://nnc.example.org`.
ENTRYPOINT ["nnc", "serve", "/data", "--host", "0.0.0.0", "--behind-tls"]
