/** A manager's container as an earlier pass left it, brought up to date, or replaced when it is not only what that made. */
import { covers, isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

/**
 * The container as it stands with our parts renewed where they differ. What the API server and other webhooks are known to
 * add (defaults, mounts, variables, limits) stays, or every pass would undo theirs. With any other part it is no longer
 * the container we made, and nothing of it stays.
 */
export function renewManager(existing: RawObject, wanted: RawObject): RawObject {
  if (hasForeignParts(existing, wanted)) return wanted;
  const renewed: { [key: string]: unknown } = { ...existing };
  for (const [key, value] of Object.entries(wanted)) renewed[key] = renewPart(key, existing[key], value);
  return Object.keys(renewed).every((key) => renewed[key] === existing[key]) ? existing : renewed;
}

/** Beside our own: defaults of the API server, and what webhooks give to every container. */
const WELCOME: Readonly<Record<string, readonly string[]>> = {
  "": [
    ...["imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "resizePolicy"],
    ...["resources", "env", "envFrom", "volumeMounts", "volumeDevices"],
  ],
  lifecycle: [],
  securityContext: ["appArmorProfile", "runAsGroup", "runAsUser", "seLinuxOptions"],
  "securityContext/capabilities": [],
};

function hasForeignParts(existing: RawObject, wanted: RawObject): boolean {
  const isForeign = Object.entries(WELCOME).some(([path, welcome]) => {
    const keys = path === "" ? [] : path.split("/");
    const ours = keys.reduce<RawObject | undefined>(objectAt, wanted) ?? {};
    const theirs = keys.reduce<RawObject | undefined>(objectAt, existing) ?? {};
    return Object.keys(theirs).some((key) => !Object.hasOwn(ours, key) && !welcome.includes(key));
  });
  return isForeign || hasTwins(existing);
}

/** Of two variables with one name kubelet takes the last, and a person reads the first. */
function hasTwins(existing: RawObject): boolean {
  const names = objectsAt(existing, "env").map((entry) => textAt(entry, "name"));
  return new Set(names).size !== names.length;
}

function renewPart(key: string, existing: unknown, wanted: unknown): unknown {
  if (key === "image") return isSameImage(existing, wanted) ? existing : wanted;
  // AlwaysPullImages sets it in every container, and refuses a Pod in which it was changed back.
  if (key === "imagePullPolicy") return existing ?? wanted;
  if (key === "env") return mergedBy("name", existing, wanted);
  if (key === "volumeMounts") return mergedBy("mountPath", existing, wanted);
  return covers(existing, wanted) ? existing : wanted;
}

/** A mirror changes the registry in front; the path with its tag or digest stays. */
function isSameImage(existing: unknown, wanted: unknown): boolean {
  if (typeof existing !== "string" || typeof wanted !== "string") return false;
  const path = wanted.replace(/^[^/]*[.:][^/]*\//, "");
  return existing === path || existing.endsWith(`/${path}`);
}

function mergedBy(key: string, existing: unknown, wanted: unknown): unknown {
  if (!Array.isArray(existing) || !Array.isArray(wanted)) return wanted;
  const merged: unknown[] = [...existing];
  for (const entry of wanted as readonly RawObject[]) {
    const at = existing.findIndex((candidate) => isRawObject(candidate) && candidate[key] === entry[key]);
    if (at < 0) merged.push(entry);
    else if (!covers(existing[at], entry)) merged[at] = entry;
  }
  return merged.length === existing.length && merged.every((entry, at) => entry === existing[at]) ? existing : merged;
}
