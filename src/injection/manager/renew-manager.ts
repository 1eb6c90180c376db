/** Updates the manager's container of an earlier admission, or replaces the container if it has unexpected fields. */
import { covers, isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

/**
 * Keeps the defaults of the API server and the usual additions of other webhooks (mounts, variables, limits), because reinvoked
 * webhooks would otherwise undo each other's changes. A container with any other additional field is replaced completely.
 */
export function renewManager(existing: RawObject, desired: RawObject): RawObject {
  if (hasForeignFields(existing, desired)) return desired;
  const renewed: { [key: string]: unknown } = { ...existing };
  for (const [key, value] of Object.entries(desired)) renewed[key] = renewField(key, existing[key], value);
  return Object.keys(renewed).every((key) => renewed[key] === existing[key]) ? existing : renewed;
}

/** Fields that the API server and other webhooks may add, by path. */
const ALLOWED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  "": [
    ...["imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "resizePolicy"],
    ...["resources", "env", "envFrom", "volumeMounts", "volumeDevices"],
  ],
  lifecycle: [],
  securityContext: ["appArmorProfile", "runAsGroup", "runAsUser", "seLinuxOptions"],
  "securityContext/capabilities": [],
};

function hasForeignFields(existing: RawObject, desired: RawObject): boolean {
  const hasForeignField = Object.entries(ALLOWED_FIELDS).some(([path, allowed]) => {
    const keys = path === "" ? [] : path.split("/");
    const desiredFields = keys.reduce<RawObject | undefined>(objectAt, desired) ?? {};
    const existingFields = keys.reduce<RawObject | undefined>(objectAt, existing) ?? {};
    return Object.keys(existingFields).some((key) => !Object.hasOwn(desiredFields, key) && !allowed.includes(key));
  });
  return hasForeignField || hasDuplicates(existing);
}

/** If a name occurs twice, the kubelet uses the last variable, but `environmentValue` returns the first. */
function hasDuplicates(existing: RawObject): boolean {
  const names = objectsAt(existing, "env").map((entry) => textAt(entry, "name"));
  return new Set(names).size !== names.length;
}

function renewField(key: string, existing: unknown, desired: unknown): unknown {
  if (key === "image") return isSameImage(existing, desired) ? existing : desired;
  // The admission plugin AlwaysPullImages sets the pull policy, and refuses a Pod with another policy.
  if (key === "imagePullPolicy") return existing ?? desired;
  if (key === "env") return mergeBy("name", existing, desired);
  if (key === "volumeMounts") return mergeBy("mountPath", existing, desired);
  return covers(existing, desired) ? existing : desired;
}

/** Ignores the registry, which a mirror may have replaced. */
function isSameImage(existing: unknown, desired: unknown): boolean {
  if (typeof existing !== "string" || typeof desired !== "string") return false;
  const path = desired.replace(/^[^/]*[.:][^/]*\//, "");
  return existing === path || existing.endsWith(`/${path}`);
}

function mergeBy(key: string, existing: unknown, desired: unknown): unknown {
  if (!Array.isArray(existing) || !Array.isArray(desired)) return desired;
  const merged: unknown[] = [...existing];
  for (const entry of desired as readonly RawObject[]) {
    const at = existing.findIndex((candidate) => isRawObject(candidate) && candidate[key] === entry[key]);
    if (at < 0) merged.push(entry);
    else if (!covers(existing[at], entry)) merged[at] = entry;
  }
  return merged.length === existing.length && merged.every((entry, at) => entry === existing[at]) ? existing : merged;
}
