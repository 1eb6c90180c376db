/** Hooks that Istio took over: kubelet calls its agent, and the agent makes the call that was written. */
import { containerNamed } from "../kubernetes/pod.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../kubernetes/raw-json.ts";

export type HookTarget = { readonly path: string; readonly port: number };

export function isRewritten(handler: RawObject, container: string): boolean {
  return textAt(objectAt(handler, "httpGet"), "path") === pathOf(container);
}

/**
 * Where the agent sends the hook of `container`, as it stands in the proxy's environment.
 *
 * @returns `undefined` when the proxy does not say, as before its own injection
 */
export function rewrittenTarget(pod: RawObject, container: string): HookTarget | undefined {
  const variables = objectsAt(containerNamed(pod, "istio-proxy"), "env");
  const text = textAt(
    variables.find((variable) => textAt(variable, "name") === "ISTIO_KUBE_APP_PROBERS"),
    "value",
  );
  const action = objectAt(objectAt(parsed(text ?? ""), pathOf(container)), "httpGet");
  const port = wholeNumberAt(action, "port");
  return port === undefined ? undefined : { path: textAt(action, "path") ?? "", port };
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
