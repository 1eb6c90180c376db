# Three images from one source: docker build --target=manager|manager-node|webhook .
# The digest decides; it is that of the image for every platform. The version is the one that tests run on.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

# Everything is compiled here; nothing of this stage but its results goes into an image.
FROM ${NODE_IMAGE} AS build
# Debian as it was at this time, so that a later build gets the same compiler, and the same bytes. It is not before the base
# image's own packages, which would have to be downgraded. Signatures are checked; a snapshot outlives its Valid-Until.
ARG DEBIAN_SNAPSHOT=20261124T000000Z
RUN rm -f /etc/apt/sources.list.d/* \
    && echo "deb [check-valid-until=no] http://snapshot.debian.org/archive/debian/${DEBIAN_SNAPSHOT} bookworm main" \
      > /etc/apt/sources.list \
    && echo "deb [check-valid-until=no] http://snapshot.debian.org/archive/debian-security/${DEBIAN_SNAPSHOT} bookworm-security main" \
      >> /etc/apt/sources.list \
    && apt-get -o Acquire::Retries=5 update && apt-get -o Acquire::Retries=5 install -y --no-install-recommends \
      binutils=2.40-2 \
      gcc=4:12.2.0-3 \
      gcc-12=12.2.0-14+deb12u1 \
      libc6-dev=2.36-9+deb12u14 \
      libgcc-12-dev=12.2.0-14+deb12u1 \
      musl-dev=1.2.3-1 \
      musl-tools=1.2.3-1
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
COPY tools tools
RUN npm ci
COPY LICENSE tsconfig.json ./
COPY native native
COPY release release
COPY src src
# The SBOM takes the base image and Debian's versions from it.
COPY Dockerfile Dockerfile
# Not by npm scripts, which put the Node of an npm package before the base image's.
RUN node native/build/main.ts && node native/build/preload-main.ts && node release/main.ts \
    && node release/sbom/main.ts

# The shutdown manager: one static binary.
FROM scratch AS manager
COPY --from=build /source/build/native/lastcall /lastcall
COPY --from=build /source/build/native/lastcall-preload.so /lastcall-preload.so
COPY --from=build /source/build/native/NOTICES.txt /NOTICES.txt
COPY --from=build /source/build/sbom/manager.cdx.json /sbom.cdx.json
USER 65532:65532
ENTRYPOINT ["/lastcall"]

# The same manager on Node: a fallback that is one image name away.
FROM ${NODE_IMAGE} AS manager-node
COPY --from=build /source/build/release/manager/lastcall-manager.mjs /app/lastcall-manager.mjs
COPY --from=build /source/release/manager-node-launcher /lastcall
COPY --from=build /source/build/native/lastcall-preload.so /lastcall-preload.so
COPY --from=build /source/node_modules/koffi /app/node_modules/koffi
COPY --from=build /source/node_modules/@koromix /app/node_modules/@koromix
COPY --from=build /source/build/sbom/manager-node.cdx.json /sbom.cdx.json
USER 65532:65532
ENTRYPOINT ["/lastcall"]

# The admission webhook.
FROM ${NODE_IMAGE} AS webhook
COPY --from=build /source/build/release/lastcall /app
COPY --from=build /source/build/sbom/webhook.cdx.json /sbom.cdx.json
ENV NODE_ENV=production
USER 65532:65532
# V8 would keep twice as much room for what lives for one admission, and let its heap grow further between two collections:
# a busy replica would be tens of megabytes larger and no faster. One worker of V8's is enough for one core, and what it
# has compiled is freed at once instead of in a task that waits behind others, which held 20 MB.
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=8", "--heap-growing-percent=50", "--v8-pool-size=1", "--no-maglev-destroy-on-background", "/app/lastcall.mjs"]
CMD ["webhook"]
