# Three images from one source: docker build --target=manager|manager-node|webhook .
# The digest decides; it is that of the image for every platform. The version is the one that tests run on.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

# Everything is compiled here; nothing of this stage but its results goes into an image.
FROM ${NODE_IMAGE} AS build
RUN apt-get update && apt-get install -y --no-install-recommends binutils gcc libc6-dev musl-tools
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
COPY tools tools
RUN npm ci
COPY LICENSE tsconfig.json ./
COPY native native
COPY release release
COPY src src
# Not by npm scripts, which put the Node of an npm package before the base image's.
RUN node native/build/main.ts && node native/build/preload-main.ts && node release/main.ts

# The shutdown manager: one static binary.
FROM scratch AS manager
COPY --from=build /source/build/native/lastcall /lastcall
COPY --from=build /source/build/native/lastcall-preload.so /lastcall-preload.so
COPY --from=build /source/build/native/NOTICES.txt /NOTICES.txt
USER 65532:65532
ENTRYPOINT ["/lastcall"]

# The same manager on Node: a fallback that is one image name away.
FROM ${NODE_IMAGE} AS manager-node
COPY --from=build /source/build/release/manager/lastcall-manager.mjs /app/lastcall-manager.mjs
COPY --from=build /source/release/manager-node-launcher /lastcall
COPY --from=build /source/build/native/lastcall-preload.so /lastcall-preload.so
COPY --from=build /source/node_modules/koffi /app/node_modules/koffi
COPY --from=build /source/node_modules/@koromix /app/node_modules/@koromix
USER 65532:65532
ENTRYPOINT ["/lastcall"]

# The admission webhook.
FROM ${NODE_IMAGE} AS webhook
COPY --from=build /source/build/release/lastcall /app
ENV NODE_ENV=production
USER 65532:65532
# V8 would keep twice as much room for what lives for one admission, and let its heap grow further between two collections:
# a busy replica would be tens of megabytes larger and no faster. One worker of V8's is enough for one core, and what it
# has compiled is freed at once instead of in a task that waits behind others, which held 20 MB.
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=8", "--heap-growing-percent=50", "--v8-pool-size=1", "--no-maglev-destroy-on-background", "/app/lastcall.mjs"]
CMD ["webhook"]
