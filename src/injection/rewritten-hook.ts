/** Hooks that Istio took over: kubelet calls its agent, and the agent makes the call that was written. */
import { containerNamed } from "../kubernetes/pod.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../kubernetes/raw-json.ts";

export type HookTarget = { readonly path: string; readonly port: number };

export function isRewritten(handler: RawObject, container: string): boolean {
  return textAt(objectAt(handler, "httpGet"), "path") === pathOf(container);
}

/** Where Istio's agent sends the hook of a container; `undefined` when it does not say. */
export type RewrittenTargets = (container: string) => HookTarget | undefined;

/** As it stands in the proxy's environment, which is read once; before its own injection the proxy says nothing. */
export function rewrittenTargets(pod: RawObject): RewrittenTargets {
  const variables = objectsAt(containerNamed(pod, "istio-proxy"), "env");
  const text = textAt(
    variables.find((variable) => textAt(variable, "name") === "ISTIO_KUBE_APP_PROBERS"),
    "value",
  );
  // Most Pods have no such proxy, and a parse that fails takes a tenth of a small admission.
  const probers = text === undefined ? undefined : parsed(text);
  return (container) => {
    const action = objectAt(objectAt(probers, pathOf(container)), "httpGet");
    const port = wholeNumberAt(action, "port");
    return port === undefined ? undefined : { path: textAt(action, "path") ?? "", port };
  };
}

function pathOf(container: string): string {
  return `/app-lifecycle/${container}/prestopz`;
}

function parsed(text: string): RawObject | undefined {
  try {
    return objectAt({ probers: JSON.parse(text) }, "probers");
  } catch {
    return undefined;
  }
}
