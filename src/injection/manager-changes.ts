/** What native and classic mode change beside the manager's container itself. */
import { annotationsOf, containersOf, nameOf } from "../kubernetes/pod.ts";
import { isAbsent, listAt, objectAt, type RawObject, textAt, valueAt } from "../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../policy/annotation-table.ts";
import { DEFAULT_CONTAINER, defaultContainerOf } from "./default-container.ts";
import type { Edit } from "./edit.ts";
import type { HookPlan } from "./hook-plan.ts";
import { meshExclusions } from "./mesh-ports.ts";
import type { PlanRequest } from "./plan-request.ts";
import { type HookTarget, isRewritten, type RewrittenTargets, rewrittenTargets } from "./rewritten-hook.ts";
import { managerNote } from "./status-note.ts";

/** One hook per held container. A standing hook that means the same stays, with the API server's defaults in it. */
export function holdEdits(
  request: PlanRequest,
  held: readonly string[],
  { token, port }: { readonly token: string; readonly port: number },
): readonly Edit[] {
  const targets = rewrittenTargets(request.pod);
  return held.map((container) => {
    const wanted = { httpGet: { path: `/${token}/prestop/${container}`, port } };
    const standing = request.injected?.handlers.get(container);
    const stays = standing !== undefined && meansTheSame(targets, container, standing, wanted.httpGet);
    const handler = stays ? standing : wanted;
    return { kind: "set-pre-stop", container, handler };
  });
}

/** The annotations injection sets. One whose present value is not text is not ours to repair. */
export function annotationValues(
  request: PlanRequest,
  hooks: readonly HookPlan[],
  port: number,
): Readonly<Record<string, string>> {
  const { pod, mode, namespaceAnnotations } = request;
  const present = annotationsOf(pod);
  const kept = hooks.flatMap((hook) => (hook.kind === "keep" && hook.hook !== "" ? [hook.container] : []));
  const values: Record<string, string> = {};
  if (isWritable(present, STATUS_ANNOTATION)) values[STATUS_ANNOTATION] = managerNote(mode, kept);
  if (!Object.hasOwn(present, DEFAULT_CONTAINER))
    values[DEFAULT_CONTAINER] = defaultContainerOf(containersOf(pod).map(nameOf));
  for (const [key, value] of meshExclusions(pod, namespaceAnnotations, port))
    if (isWritable(present, key)) values[key] = value;
  return values;
}

function isWritable(annotations: RawObject, key: string): boolean {
  return !Object.hasOwn(annotations, key) || typeof annotations[key] === "string";
}

/** The manager's place: where it stands already, else first among the init containers or last among the others. */
export function placeOf(request: PlanRequest): Omit<Extract<Edit, { kind: "add-manager" }>, "container"> {
  const { pod, mode, injected } = request;
  const list = mode === "native" ? "initContainers" : "containers";
  if (injected?.manager?.list === list) return { kind: "add-manager", list, at: injected.manager.at };
  return { kind: "add-manager", list, at: mode === "native" ? 0 : listAt(objectAt(pod, "spec"), list).length };
}

/** A hook that Istio took over also ends at ours, unless its agent still goes by an older port or token. */
function meansTheSame(targets: RewrittenTargets, container: string, handler: RawObject, wanted: HookTarget): boolean {
  if (isRewritten(handler, container)) {
    const target = targets(container) ?? wanted;
    return target.path === wanted.path && target.port === wanted.port;
  }
  const httpGet = objectAt(handler, "httpGet");
  return (
    (textAt(httpGet, "path") ?? "") === wanted.path &&
    httpGet?.["port"] === wanted.port &&
    (textAt(httpGet, "scheme") ?? "HTTP") === "HTTP" &&
    isAbsent(valueAt(httpGet, "host"))
  );
}
