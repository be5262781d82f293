# An image whose kernels are compiled: docker build -t spinney . && docker run --rm -v "$PWD:/data" spinney --help
FROM python:3.13-slim
# Machine code for any processor of this architecture; without it, kernels fit the processor that built the image and no other.
ENV NUMBA_CPU_NAME=generic
WORKDIR /build
COPY . .
RUN pip install --no-cache-dir '.[plot,sign]' && spinney warm && rm -rf /build
RUN useradd --create-home spinney
USER spinney
WORKDIR /data
ENTRYPOINT ["spinney"]
