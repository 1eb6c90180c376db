/** A manager's container as an earlier pass left it, brought up to date, or replaced when it is not only what that made. */
import { covers, isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";

/**
 * The container as it stands with our parts renewed where they differ. What the API server and other webhooks are known to
 * add (defaults, mounts, variables, limits) stays, or every pass would undo theirs. With any other part it is no longer
 * the container we made, and nothing of it stays.
 */
export function renewManager(standing: RawObject, wanted: RawObject): RawObject {
  if (hasForeignParts(standing, wanted)) return wanted;
  const renewed: { [key: string]: unknown } = { ...standing };
  for (const [key, value] of Object.entries(wanted)) renewed[key] = renewPart(key, standing[key], value);
  return Object.keys(renewed).every((key) => renewed[key] === standing[key]) ? standing : renewed;
}

/** Beside our own: defaults of the API server, and what webhooks give to every container. */
const WELCOME: Readonly<Record<string, readonly string[]>> = {
  "": [
    ...["imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "resizePolicy"],
    ...["resources", "env", "envFrom", "volumeMounts", "volumeDevices"],
  ],
  lifecycle: [],
  securityContext: ["appArmorProfile", "runAsGroup", "seLinuxOptions"],
  "securityContext/capabilities": [],
};

function hasForeignParts(standing: RawObject, wanted: RawObject): boolean {
  const isForeign = Object.entries(WELCOME).some(([path, welcome]) => {
    const keys = path === "" ? [] : path.split("/");
    const ours = keys.reduce<RawObject | undefined>(objectAt, wanted) ?? {};
    const theirs = keys.reduce<RawObject | undefined>(objectAt, standing) ?? {};
    return Object.keys(theirs).some((key) => !Object.hasOwn(ours, key) && !welcome.includes(key));
  });
  return isForeign || hasTwins(standing);
}

/** Of two variables with one name kubelet takes the last, and a person reads the first. */
function hasTwins(standing: RawObject): boolean {
  const names = objectsAt(standing, "env").map((entry) => textAt(entry, "name"));
  return new Set(names).size !== names.length;
}

function renewPart(key: string, standing: unknown, wanted: unknown): unknown {
  if (key === "image") return isSameImage(standing, wanted) ? standing : wanted;
  if (key === "env") return mergedBy("name", standing, wanted);
  if (key === "volumeMounts") return mergedBy("mountPath", standing, wanted);
  return covers(standing, wanted) ? standing : wanted;
}

/** A mirror changes the registry in front; the path with its tag or digest stays. */
function isSameImage(standing: unknown, wanted: unknown): boolean {
  if (typeof standing !== "string" || typeof wanted !== "string") return false;
  const path = wanted.replace(/^[^/]*[.:][^/]*\//, "");
  return standing === path || standing.endsWith(`/${path}`);
}

function mergedBy(key: string, standing: unknown, wanted: unknown): unknown {
  if (!Array.isArray(standing) || !Array.isArray(wanted)) return wanted;
  const merged: unknown[] = [...standing];
  for (const entry of wanted as readonly RawObject[]) {
    const at = standing.findIndex((candidate) => isRawObject(candidate) && candidate[key] === entry[key]);
    if (at < 0) merged.push(entry);
    else if (!covers(standing[at], entry)) merged[at] = entry;
  }
  return merged.length === standing.length && merged.every((entry, at) => entry === standing[at]) ? standing : merged;
}
