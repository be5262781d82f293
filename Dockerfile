# An image whose kernels are compiled: docker build -t spinney . && docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/data" spinney --help
FROM python:3.13-slim
# Machine code for any processor of this architecture; without it, kernels fit the processor that built the image and no other.
ENV NUMBA_CPU_NAME=generic
WORKDIR /build
COPY . .
RUN pip install --no-cache-dir '.[plot,sign]' && spinney warm
RUN useradd --create-home --uid 1000 spinney
USER spinney
WORKDIR /data
ENTRYPOINT ["spinney"]
