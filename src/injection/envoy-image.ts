/** Which containers are Envoys, by the names their images have. */
import { type RawObject, textAt } from "../kubernetes/raw-json.ts";

/** `envoyproxy/envoy:v1.31`, `registry.local/envoy@sha256:…`, `envoy-distroless`, `contour-envoy`. */
export function isEnvoy(container: RawObject): boolean {
  const image = textAt(container, "image") ?? "";
  if (!image.includes("envoy")) return false;
  const repository = image.split("@")[0]?.replace(/:[^/:]*$/, "") ?? "";
  const name = repository.slice(repository.lastIndexOf("/") + 1);
  return /^(envoy|envoy-distroless|envoy-contrib|envoy-debug|envoy-dev|envoyproxy|[a-z]+-envoy)$/.test(name);
}
