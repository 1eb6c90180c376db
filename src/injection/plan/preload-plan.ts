/** Which containers load the library that sends kept clients away, and why the others do not. Pure. */
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
  /** Empty when no container loads it. */
  readonly edits: readonly Edit[];
  readonly problems: readonly Problem[];
};

const NONE: PreloadPlan = { edits: [], problems: [] };

export function planPreload(request: PlanRequest): PreloadPlan {
  const { pod, policy, where } = request;
  if (policy.preload === "disabled") return NONE;
  const wholePod = whyNowhere(request);
  if (wholePod !== undefined) return { edits: [], problems: [leftOut(where, wholePod)] };
  const names = containersOf(pod).map(nameOf);
  const edits: Edit[] = [];
  const problems: Problem[] = [];
  for (const container of containersOf(pod)) {
    if (isMeshProxy(pod, container)) continue;
    const name = nameOf(container);
    const isTwice = names.indexOf(name) !== names.lastIndexOf(name);
    const why = isTwice ? "Its name stands twice in the Pod." : whyNotIn(container);
    if (why === undefined) edits.push(loading(request, container));
    else problems.push(leftOut(`${where}, container ${name}`, why));
  }
  return { edits: edits.length === 0 ? [] : [volumeOf(request), ...edits], problems };
}

export function leftOut(where: string, message: string): Problem {
  return { code: "preload_left_out", where, message };
}

/** API servers and kubelets of 1.36 mount images without being told to. */
function whyNowhere({ pod, apiServerVersion, lowestKubeletVersion, oldRuntime }: PlanRequest): string | undefined {
  const isNewEnough = (text: string | undefined): boolean => {
    const version = parseVersion(text ?? "");
    return version !== undefined && isAtLeast(version, 1, 36);
  };
  if (!isNewEnough(apiServerVersion) || !isNewEnough(lowestKubeletVersion)) {
    const kubelets = lowestKubeletVersion === undefined ? "unknown" : quote(lowestKubeletVersion);
    const found = `this is ${quote(apiServerVersion)}, kubelets ${kubelets}`;
    return `Its volume is an image, which API server and kubelets mount from Kubernetes 1.36 on; ${found}.`;
  }
  if (oldRuntime !== undefined)
    return `Its volume is an image, which containerd mounts from 2.1 on and CRI-O from 1.33 on; a node has ${quote(oldRuntime)}.`;
  const taken = objectsAt(objectAt(pod, "spec"), "volumes").some((volume) => volume["name"] === PRELOAD_VOLUME);
  return taken ? `The Pod has a volume ${PRELOAD_VOLUME} of its own.` : undefined;
}

/** What cannot be seen here may hide a library that the app needs. */
function whyNotIn(container: RawObject): string | undefined {
  const set = objectsAt(container, "env").filter((variable) => variable["name"] === PRELOAD_VARIABLE);
  const [first] = set;
  if (set.length > 1) return `It sets ${PRELOAD_VARIABLE} more than once.`;
  if (first !== undefined && !isAbsent(valueAt(first, "valueFrom")))
    return `Its ${PRELOAD_VARIABLE} comes from elsewhere; a value that is written there could be added to.`;
  const value = textAt(first, "value");
  if (first !== undefined && (value === undefined || value === ""))
    return `Its ${PRELOAD_VARIABLE} is empty; without it, or with a value, it could be added to.`;
  if (value?.includes(PRELOAD_FOLDER) === true) return `Its ${PRELOAD_VARIABLE} names ${PRELOAD_FOLDER} already.`;
  if (first === undefined && listAt(container, "envFrom").length > 0)
    return `Its envFrom may set ${PRELOAD_VARIABLE}; an env entry with that value could be added to.`;
  const taken = objectsAt(container, "volumeMounts").some((mount) => mount["mountPath"] === PRELOAD_FOLDER);
  return taken ? `It mounts something at ${PRELOAD_FOLDER}.` : undefined;
}

/** An existing volume of the same image stays as the API server completed it. */
function volumeOf({ pod, image, pullPolicy, existing }: PlanRequest): Edit {
  const preload = existing?.preload;
  const before = objectAt(preload?.volume, "image");
  const completed = before?.["reference"] === image ? before : undefined;
  const source = { ...completed, reference: image, ...(pullPolicy === undefined ? {} : { pullPolicy }) };
  const at = preload?.at ?? listAt(objectAt(pod, "spec"), "volumes").length;
  return { kind: "add-volume", at, volume: { name: PRELOAD_VOLUME, image: source } };
}

function loading({ existing }: PlanRequest, container: RawObject): Edit {
  const env = listAt(container, "env");
  const places = existing?.preload?.places.get(nameOf(container));
  const own = objectsAt(container, "env").find((variable) => variable["name"] === PRELOAD_VARIABLE);
  const value = own === undefined ? PRELOAD_LIBRARY : `${textAt(own, "value")}:${PRELOAD_LIBRARY}`;
  return {
    kind: "load-library",
    container: nameOf(container),
    variable: {
      at: own === undefined ? (places?.variable ?? env.length) : env.indexOf(own),
      replaces: own !== undefined,
      entry: { ...own, name: PRELOAD_VARIABLE, value },
    },
    mount: {
      at: places?.mount ?? listAt(container, "volumeMounts").length,
      entry: { name: PRELOAD_VOLUME, mountPath: PRELOAD_FOLDER, readOnly: true },
    },
  };
}
