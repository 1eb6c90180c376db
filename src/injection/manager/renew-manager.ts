/** Updates the manager's container of an earlier admission, or replaces it if it has foreign parts. */
import { covers, isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

/**
 * Keeps the defaults of the API server and the usual additions of other webhooks (mounts, variables, limits), because reinvoked
 * webhooks would otherwise undo each other's changes. If any other part differs, the container is replaced completely.
 */
export function renewManager(existing: RawObject, wanted: RawObject): RawObject {
  if (hasForeignParts(existing, wanted)) return wanted;
  const renewed: { [key: string]: unknown } = { ...existing };
  for (const [key, value] of Object.entries(wanted)) renewed[key] = renewPart(key, existing[key], value);
  return Object.keys(renewed).every((key) => renewed[key] === existing[key]) ? existing : renewed;
}

/** Fields that the API server and other webhooks may add, by path. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "": [
    ...["imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "resizePolicy"],
    ...["resources", "env", "envFrom", "volumeMounts", "volumeDevices"],
  ],
  lifecycle: [],
  securityContext: ["appArmorProfile", "runAsGroup", "runAsUser", "seLinuxOptions"],
  "securityContext/capabilities": [],
};

function hasForeignParts(existing: RawObject, wanted: RawObject): boolean {
  const isForeign = Object.entries(ALLOWED).some(([path, welcome]) => {
    const keys = path === "" ? [] : path.split("/");
    const ours = keys.reduce<RawObject | undefined>(objectAt, wanted) ?? {};
    const theirs = keys.reduce<RawObject | undefined>(objectAt, existing) ?? {};
    return Object.keys(theirs).some((key) => !Object.hasOwn(ours, key) && !welcome.includes(key));
  });
  return isForeign || hasDuplicates(existing);
}

/** The kubelet uses the last variable of a name, while readers and `environmentValue` find the first. */
function hasDuplicates(existing: RawObject): boolean {
  const names = objectsAt(existing, "env").map((entry) => textAt(entry, "name"));
  return new Set(names).size !== names.length;
}

function renewPart(key: string, existing: unknown, wanted: unknown): unknown {
  if (key === "image") return isSameImage(existing, wanted) ? existing : wanted;
  // The admission plugin AlwaysPullImages sets it, and refuses a Pod with another value.
  if (key === "imagePullPolicy") return existing ?? wanted;
  if (key === "env") return mergedBy("name", existing, wanted);
  if (key === "volumeMounts") return mergedBy("mountPath", existing, wanted);
  return covers(existing, wanted) ? existing : wanted;
}

/** Ignores the registry, which a mirror may have replaced. */
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
