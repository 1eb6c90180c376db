/** Plans which containers load the preload library, and reports why other containers cannot. Pure. */
import {
  PRELOAD_FOLDER,
  PRELOAD_LIBRARY,
  PRELOAD_VARIABLE,
  PRELOAD_VOLUME,
} from "../../contract/manager-environment.ts";
import { containersOf, nameOf } from "../../kubernetes/pod.ts";
import { isAbsent, listAt, objectAt, objectsAt, type RawObject, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { isAtLeast, parseVersion } from "../../kubernetes/version.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { isMeshProxy } from "../mesh/mesh.ts";
import type { Edit } from "../record/edit.ts";
import type { PlanRequest } from "./plan.ts";

export type PreloadPlan = {
  readonly edits: readonly Edit[];
  readonly problems: readonly Problem[];
};

const NO_PRELOAD: PreloadPlan = { edits: [], problems: [] };

export function planPreload(request: PlanRequest): PreloadPlan {
  const { pod, policy, where } = request;
  if (policy.preload === "disabled") return NO_PRELOAD;
  const podProblem = podError(request);
  if (podProblem !== undefined) return { edits: [], problems: [notPreloaded(where, podProblem)] };
  const names = containersOf(pod).map(nameOf);
  const edits: Edit[] = [];
  const problems: Problem[] = [];
  for (const container of containersOf(pod)) {
    if (isMeshProxy(pod, container)) continue;
    const name = nameOf(container);
    const isDuplicateName = names.indexOf(name) !== names.lastIndexOf(name);
    const error = isDuplicateName
      ? "Another container of the Pod has the same name. Rename one of them."
      : containerError(container);
    if (error === undefined) edits.push(loadLibraryEdit(request, container));
    else problems.push(notPreloaded(`${where}, container ${name}`, error));
  }
  return { edits: edits.length === 0 ? [] : [volumeEdit(request), ...edits], problems };
}

export function notPreloaded(where: string, message: string): Problem {
  return { code: "preload_left_out", where, message };
}

/** Image volumes are enabled by default from Kubernetes 1.36 on. */
function podError({
  pod,
  apiServerVersion,
  lowestKubeletVersion,
  runtimeWithoutImageVolumes,
}: PlanRequest): string | undefined {
  const isNewEnough = (text: string | undefined): boolean => {
    const version = parseVersion(text ?? "");
    return version !== undefined && isAtLeast(version, 1, 36);
  };
  if (!isNewEnough(apiServerVersion) || !isNewEnough(lowestKubeletVersion)) {
    const kubelets = lowestKubeletVersion === undefined ? "unknown" : quote(lowestKubeletVersion);
    const found = `found API server ${quote(apiServerVersion)}, oldest kubelet ${kubelets}`;
    return `lastcall.dev/preload requires image volumes of Kubernetes 1.36 or later, ${found}.`;
  }
  if (runtimeWithoutImageVolumes !== undefined)
    return `lastcall.dev/preload requires image volumes of containerd 2.1 or CRI-O 1.33; a node has ${quote(runtimeWithoutImageVolumes)}.`;
  const isTaken = objectsAt(objectAt(pod, "spec"), "volumes").some((volume) => volume["name"] === PRELOAD_VOLUME);
  return isTaken ? `The Pod has another volume named ${PRELOAD_VOLUME}. Rename it.` : undefined;
}

/** Refuses a container whose existing LD_PRELOAD is unknown, because the app may need the library that LD_PRELOAD names. */
function containerError(container: RawObject): string | undefined {
  const variables = objectsAt(container, "env").filter((variable) => variable["name"] === PRELOAD_VARIABLE);
  const [first] = variables;
  if (variables.length > 1) return `Sets ${PRELOAD_VARIABLE} more than once. Set it once.`;
  if (first !== undefined && !isAbsent(valueAt(first, "valueFrom")))
    return `Sets ${PRELOAD_VARIABLE} by valueFrom. Set it by value.`;
  const value = textAt(first, "value");
  if (first !== undefined && (value === undefined || value === ""))
    return `Sets ${PRELOAD_VARIABLE} to an empty value. Remove it, or set a value.`;
  if (value?.includes(PRELOAD_FOLDER) === true)
    return `${PRELOAD_VARIABLE} contains a library in ${PRELOAD_FOLDER} already. Remove it.`;
  if (first === undefined && listAt(container, "envFrom").length > 0)
    return `envFrom may set ${PRELOAD_VARIABLE}. Set it by an env entry.`;
  const isTaken = objectsAt(container, "volumeMounts").some((mount) => mount["mountPath"] === PRELOAD_FOLDER);
  return isTaken ? `Mounts another volume at ${PRELOAD_FOLDER}. Change its mountPath.` : undefined;
}

/** An existing volume of the same image stays, including the API server's defaults. */
function volumeEdit({ pod, image, pullPolicy, existing }: PlanRequest): Edit {
  const preload = existing?.preload;
  const existingImage = objectAt(preload?.volume, "image");
  const existingSource = existingImage?.["reference"] === image ? existingImage : undefined;
  const source = { ...existingSource, reference: image, ...(pullPolicy === undefined ? {} : { pullPolicy }) };
  const at = preload?.at ?? listAt(objectAt(pod, "spec"), "volumes").length;
  return { kind: "add-volume", at, volume: { name: PRELOAD_VOLUME, image: source } };
}

function loadLibraryEdit({ existing }: PlanRequest, container: RawObject): Edit {
  const env = listAt(container, "env");
  const positions = existing?.preload?.positions.get(nameOf(container));
  const ownVariable = objectsAt(container, "env").find((variable) => variable["name"] === PRELOAD_VARIABLE);
  const value = ownVariable === undefined ? PRELOAD_LIBRARY : `${textAt(ownVariable, "value")}:${PRELOAD_LIBRARY}`;
  return {
    kind: "load-library",
    container: nameOf(container),
    variable: {
      at: ownVariable === undefined ? (positions?.variable ?? env.length) : env.indexOf(ownVariable),
      replacesEntry: ownVariable !== undefined,
      entry: { ...ownVariable, name: PRELOAD_VARIABLE, value },
    },
    mount: {
      at: positions?.mount ?? listAt(container, "volumeMounts").length,
      entry: { name: PRELOAD_VOLUME, mountPath: PRELOAD_FOLDER, readOnly: true },
    },
  };
}
