/** Combines LimitRanges into one set of bounds per resource, each with its origin. */
import type { LimitAmounts, LimitRange, LimitRangeItem } from "../../kubernetes/limit-range.ts";
import type { ComputeResource } from "../../kubernetes/qos.ts";
import { parseQuantity } from "../../kubernetes/quantity.ts";
import { objectAt, type RawObject, valueAt } from "../../kubernetes/raw-json.ts";

export type Bound = {
  readonly value: number;
  readonly text: string;
  readonly origin: string;
};

/** Not usable if LimitRanges have different defaults, or if a default violates a bound: Kubernetes then does not define the result. */
type DefaultAmount = { readonly value: number | undefined; readonly isUsable: boolean };

export type Bounds = {
  readonly min: Bound | undefined;
  readonly max: Bound | undefined;
  readonly ratio: Bound | undefined;
  readonly defaultLimit: DefaultAmount;
  readonly defaultRequest: DefaultAmount;
};

export function boundsOf(ranges: readonly LimitRange[], type: LimitRangeItem["type"], name: ComputeResource): Bounds {
  const boundsOfKind = (kind: Kind): readonly Bound[] =>
    ranges.flatMap((range) =>
      range.items.filter((item) => item.type === type).flatMap((item) => boundIn(range.name, item, { kind, name })),
    );
  const min = narrowest(boundsOfKind("min"), (left, right) => right - left);
  const max = narrowest(boundsOfKind("max"), (left, right) => left - right);
  const defaultOf = (kind: Kind): DefaultAmount => {
    const values = boundsOfKind(kind).map(({ value }) => value);
    const [value] = values;
    const isUsable = values.every(
      (other) => other === value && other >= (min?.value ?? 0) && other <= (max?.value ?? other),
    );
    return { value, isUsable };
  };
  return {
    min,
    max,
    ratio: narrowest(boundsOfKind("maxLimitRequestRatio"), (left, right) => left - right),
    defaultLimit: defaultOf("default"),
    defaultRequest: defaultOf("defaultRequest"),
  };
}

type Kind = "min" | "max" | "maxLimitRequestRatio" | "default" | "defaultRequest";

function boundIn(
  range: string,
  item: LimitRangeItem,
  { kind, name }: { readonly kind: Kind; readonly name: ComputeResource },
): readonly Bound[] {
  const amounts: LimitAmounts = item[kind];
  const text = amounts[name];
  const value = parseQuantity(text);
  // Zero means "no bound", because a maximum of zero would refuse every Pod.
  if (text === undefined || value === undefined || value <= 0) return [];
  return [{ value, text, origin: `LimitRange ${range}, ${kind} ${name} per ${item.type}` }];
}

function narrowest(bounds: readonly Bound[], order: (left: number, right: number) => number): Bound | undefined {
  let first: Bound | undefined;
  for (const bound of bounds) if (first === undefined || order(bound.value, first.value) < 0) first = bound;
  return first;
}

/** Kubernetes sets a missing request to an explicit limit, so the default request applies only if neither is set. */
export function withRangeDefaults(resources: RawObject, ranges: readonly LimitRange[]): RawObject {
  let filled = resources;
  for (const name of ["cpu", "memory"] as const) {
    const { defaultLimit, defaultRequest } = boundsOf(ranges, "Container", name);
    const { request, limit } = amountsOf(resources, name);
    if (limit === undefined) filled = putAmount(filled, ["limits", name], defaultLimit.value);
    if (request === undefined) filled = putAmount(filled, ["requests", name], defaultRequest.value);
  }
  return filled;
}

/** Request and limit of one resource, in cores or bytes; `undefined` if the API server's default applies. */
export type Amounts = { readonly request: number | undefined; readonly limit: number | undefined };

export function amountsOf(resources: RawObject, name: ComputeResource): Amounts {
  const limit = parseQuantity(valueAt(objectAt(resources, "limits"), name));
  return { request: parseQuantity(valueAt(objectAt(resources, "requests"), name)) ?? limit, limit };
}

type AmountsChange = { readonly name: ComputeResource; readonly before: Amounts; readonly after: Amounts };

export function writeAmounts(resources: RawObject, { name, before, after }: AmountsChange): RawObject {
  const withRequest =
    before.request === after.request ? resources : putAmount(resources, ["requests", name], after.request);
  return before.limit === after.limit ? withRequest : putAmount(withRequest, ["limits", name], after.limit);
}

type AmountKey = readonly [list: "requests" | "limits", name: ComputeResource];

function putAmount(resources: RawObject, [list, name]: AmountKey, value: number | undefined): RawObject {
  return value === undefined
    ? resources
    : { ...resources, [list]: { ...objectAt(resources, list), [name]: formatQuantity(name, value) } };
}

const MEBIBYTE = 2 ** 20;

export function formatQuantity(name: ComputeResource, value: number): string {
  if (name === "cpu") {
    const millicores = Math.ceil(value * 1_000 - 1e-6);
    return millicores % 1_000 === 0 ? String(millicores / 1_000) : `${millicores}m`;
  }
  const bytes = Math.ceil(value - 1e-6);
  return bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE}Mi` : String(bytes);
}

function unitOf(name: ComputeResource): number {
  return name === "cpu" ? 0.001 : 1;
}

export function roundUp(name: ComputeResource, value: number): number {
  return Math.ceil(value / unitOf(name) - 1e-6) * unitOf(name);
}

export function roundDown(name: ComputeResource, value: number): number {
  return Math.floor(value / unitOf(name) + 1e-6) * unitOf(name);
}
