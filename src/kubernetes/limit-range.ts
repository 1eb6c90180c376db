/**
 * Reads the fields of LimitRanges that decide whether a container is admitted.
 *
 * @see https://kubernetes.io/docs/concepts/policy/limit-range/
 */
import { objectAt, objectsAt, type RawObject, textAt, valueAt } from "./raw-json.ts";

export type LimitAmounts = { readonly cpu?: string; readonly memory?: string };

export type LimitRangeItem = {
  /** `Container` limits each container, `Pod` the sum of all containers. */
  readonly type: "Container" | "Pod";
  readonly min: LimitAmounts;
  readonly max: LimitAmounts;
  readonly default: LimitAmounts;
  readonly defaultRequest: LimitAmounts;
  /** Maximum of the limit divided by the request. */
  readonly maxLimitRequestRatio: LimitAmounts;
};

export type LimitRange = { readonly name: string; readonly items: readonly LimitRangeItem[] };

/** Ignores items for volumes and resources other than CPU and memory, which the manager does not use. */
export function readLimitRange(object: RawObject): LimitRange {
  const items = objectsAt(objectAt(object, "spec"), "limits").flatMap((item): readonly LimitRangeItem[] => {
    const type = textAt(item, "type");
    if (type !== "Container" && type !== "Pod") return [];
    const amountsOf = (key: string): LimitAmounts => readAmounts(objectAt(item, key));
    return [
      {
        type,
        min: amountsOf("min"),
        max: amountsOf("max"),
        default: amountsOf("default"),
        defaultRequest: amountsOf("defaultRequest"),
        maxLimitRequestRatio: amountsOf("maxLimitRequestRatio"),
      },
    ];
  });
  return { name: textAt(objectAt(object, "metadata"), "name") ?? "", items };
}

function readAmounts(list: RawObject | undefined): LimitAmounts {
  const cpu = quantityText(valueAt(list, "cpu"));
  const memory = quantityText(valueAt(list, "memory"));
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}

/** In YAML an unquoted `1` or `0.5` is a number. */
function quantityText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
