/** What a container asks of one resource, and how that is written. */
import type { ComputeResource } from "../kubernetes/qos.ts";
import { parseQuantity } from "../kubernetes/quantity.ts";
import { objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";
import { written } from "./amount-text.ts";

/** Cores or bytes; `undefined`: not said, so the API server's default counts. */
export type Share = { readonly request: number | undefined; readonly limit: number | undefined };

export function shareOf(resources: RawObject, name: ComputeResource): Share {
  const limit = parseQuantity(valueAt(objectAt(resources, "limits"), name));
  return { request: parseQuantity(valueAt(objectAt(resources, "requests"), name)) ?? limit, limit };
}

type Writing = { readonly name: ComputeResource; readonly before: Share; readonly after: Share };

/** The same object when nothing changed. */
export function writeShare(resources: RawObject, { name, before, after }: Writing): RawObject {
  const withRequest =
    before.request === after.request ? resources : putAmount(resources, ["requests", name], after.request);
  return before.limit === after.limit ? withRequest : putAmount(withRequest, ["limits", name], after.limit);
}

type Place = readonly [list: "requests" | "limits", name: ComputeResource];

/** The same object when there is no amount. */
export function putAmount(into: RawObject, [list, name]: Place, value: number | undefined): RawObject {
  return value === undefined ? into : { ...into, [list]: { ...objectAt(into, list), [name]: written(name, value) } };
}
