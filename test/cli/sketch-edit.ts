/** An injection in miniature: touches every place the real one touches, and knows how to take itself back. */
import type { PodEdit } from "../../src/cli/manifest/edit-manifest.ts";
import { isRawObject, listAt, objectAt, type RawObject } from "../../src/kubernetes/raw-json.ts";

const MANAGER = {
  name: "lastcall",
  image: "lastcall-manager:0.1.0",
  args: ["serve", "--port=17890", "--hooks=app:app,istio-proxy:mesh-proxy"],
  env: [{ name: "LASTCALL_ORIGINAL", value: '{"grace":30}' }],
  securityContext: { runAsUser: 65532, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true },
};

export function sketchInjected(pod: object): object {
  if (!isRawObject(pod)) return pod;
  const spec = objectAt(pod, "spec") ?? {};
  const metadata = objectAt(pod, "metadata") ?? {};
  return {
    ...pod,
    metadata: {
      ...metadata,
      annotations: { ...objectAt(metadata, "annotations"), "lastcall.dev/status": '{"version":"0.1.0"}' },
    },
    spec: {
      ...spec,
      initContainers: [MANAGER, ...listAt(spec, "initContainers")],
      containers: listAt(spec, "containers").map((container) =>
        isRawObject(container) ? withHook(container) : container,
      ),
      terminationGracePeriodSeconds: 100,
    },
  };
}

function withHook(container: RawObject): RawObject {
  const preStop = { httpGet: { path: `/0123/prestop/${String(container["name"])}`, port: 17890 } };
  return { ...container, lifecycle: { ...objectAt(container, "lifecycle"), preStop } };
}

export const sketchInject: PodEdit = ({ pod }) => sketchInjected(pod);

/** Puts the Pods back that were there at first, in the order they are met. */
export function sketchUninject(originals: readonly unknown[]): PodEdit {
  let next = 0;
  return () => {
    const original = originals[next];
    next += 1;
    return isRawObject(original) ? original : undefined;
  };
}
