/** Several LimitRanges as one set of bounds per resource, each with the name of the one it comes from. */
import type { LimitAmounts, LimitRange, LimitRangeItem } from "../kubernetes/limit-range.ts";
import type { ComputeResource } from "../kubernetes/qos.ts";
import { parseQuantity } from "../kubernetes/quantity.ts";

export type Bound = {
  /** Cores or bytes; for a ratio its number. */
  readonly value: number;
  /** As the LimitRange writes it. */
  readonly text: string;
  /** Such as `LimitRange small, min memory per Container`. */
  readonly from: string;
};

/** Where several differ, which one comes is not said; and one may break the bounds of another LimitRange. */
export type Default = { readonly value: number | undefined; readonly isUsable: boolean };

/** All must be met at once, so the narrowest of each counts. */
export type Bounds = {
  readonly min: Bound | undefined;
  readonly max: Bound | undefined;
  readonly ratio: Bound | undefined;
  /** What the API server gives a container that asks for nothing. */
  readonly defaultLimit: Default;
  readonly defaultRequest: Default;
};

export function boundsOf(ranges: readonly LimitRange[], type: LimitRangeItem["type"], name: ComputeResource): Bounds {
  const all = (kind: Kind): readonly Bound[] =>
    ranges.flatMap((range) =>
      range.items.filter((item) => item.type === type).flatMap((item) => boundIn(range.name, item, { kind, name })),
    );
  const min = narrowest(all("min"), (left, right) => right - left);
  const max = narrowest(all("max"), (left, right) => left - right);
  const defaultOf = (kind: Kind): Default => {
    const values = all(kind).map(({ value }) => value);
    const [value] = values;
    const isInside = values.every((one) => one === value && one >= (min?.value ?? 0) && one <= (max?.value ?? one));
    return { value, isUsable: isInside };
  };
  return {
    min,
    max,
    ratio: narrowest(all("maxLimitRequestRatio"), (left, right) => left - right),
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
  // Anyone who keeps a zero means "no bound"; as a maximum it would allow no Pod at all.
  if (text === undefined || value === undefined || value <= 0) return [];
  return [{ value, text, from: `LimitRange ${range}, ${kind} ${name} per ${item.type}` }];
}

function narrowest(bounds: readonly Bound[], order: (left: number, right: number) => number): Bound | undefined {
  let first: Bound | undefined;
  for (const bound of bounds) if (first === undefined || order(bound.value, first.value) < 0) first = bound;
  return first;
}
