/** Keeping our port out of a mesh's redirection, by the mesh's own annotation. */
import { annotationsOf, initContainersOf, nameOf } from "../kubernetes/pod.ts";
import { listAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { isInMesh, MESHES, type Mesh } from "./mesh.ts";

/** Annotations that keep `port` out of each mesh's redirection, merged with what is there or would be inherited. */
export function meshExclusions(
  pod: RawObject,
  namespace: RawObject,
  port: number,
): readonly (readonly [string, string])[] {
  return MESHES.filter((mesh) => isInMesh(mesh, pod, namespace)).flatMap((mesh) => {
    const present = textAt(annotationsOf(pod), mesh.exclusion) ?? inheritedBy(mesh, namespace);
    return includesPort(present, port) ? [] : [[mesh.exclusion, withPort(present, port)] as const];
  });
}

/** What the mesh would exclude if the Pod stayed silent: a Pod that speaks must repeat it. */
function inheritedBy(mesh: Mesh, namespace: RawObject): string {
  const ofNamespace = mesh.inheritsExclusion ? textAt(namespace, mesh.exclusion) : undefined;
  return ofNamespace ?? mesh.usuallyExcluded;
}

function withPort(before: string, port: number): string {
  return before.trim() === "" ? String(port) : `${before},${port}`;
}

/**
 * Whether `value` is still what {@link meshExclusions} wrote.
 *
 * @param before what stood on the Pod itself, if anything; what it inherited then is not remembered
 */
export function isOurExclusion(key: string, value: unknown, before: string | null, port: number): boolean {
  const mesh = MESHES.find(({ exclusion }) => exclusion === key);
  if (mesh === undefined || typeof value !== "string") return false;
  if (before === null && mesh.inheritsExclusion) return value === String(port) || value.endsWith(`,${port}`);
  return value === withPort(before ?? "", port);
}

export type Capture = { readonly init: string; readonly exclusion: string };

/** The mesh init containers that redirect without knowing our port. */
export function capturesOf(pod: RawObject, port: number): readonly Capture[] {
  return initContainersOf(pod).flatMap((container) => {
    const mesh = MESHES.find(({ init }) => init === nameOf(container));
    if (mesh === undefined || !redirects(mesh, container, port)) return [];
    return [{ init: mesh.init, exclusion: mesh.exclusion }];
  });
}

function redirects(mesh: Mesh, init: RawObject, port: number): boolean {
  if (mesh.name === "linkerd") return !includesPort(flagOf(init, ["--inbound-ports-to-ignore"]) ?? "", port);
  // A list of ports to take in makes Istio ignore the list of ports to leave out.
  const included = flagOf(init, ["-b", "--istio-inbound-ports"]) ?? "*";
  if (included !== "*") return includesPort(included, port);
  return !includesPort(flagOf(init, ["-d", "--istio-local-exclude-ports"]) ?? "", port);
}

/** The value of a flag written as `--flag value` or `--flag=value`. */
function flagOf(container: RawObject, flags: readonly string[]): string | undefined {
  const args = listAt(container, "args").map((arg) => (typeof arg === "string" ? arg : ""));
  for (const [index, arg] of args.entries()) {
    if (flags.includes(arg)) return args[index + 1] ?? "";
    const flag = flags.find((name) => name.startsWith("--") && arg.startsWith(`${name}=`));
    if (flag !== undefined) return arg.slice(flag.length + 1);
  }
  return undefined;
}

/** Lists hold ports and, for Linkerd, ranges. */
function includesPort(list: string, port: number): boolean {
  return list.split(",").some((part) => {
    const [from = "", to = from] = part.trim().split("-");
    return /^[0-9]{1,5}$/.test(from) && /^[0-9]{1,5}$/.test(to) && Number(from) <= port && port <= Number(to);
  });
}
