/** Label selectors, as far as files can answer them. */
import { listAt, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";

/** `{app: web}`, as Services have it. One without labels chooses nothing. */
export function selectsByLabels(wanted: RawObject | undefined, labels: RawObject): boolean {
  const pairs = Object.entries(wanted ?? {});
  return pairs.length > 0 && pairs.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

/** `matchLabels` and `matchExpressions`. An empty selector chooses everything, an absent one nothing. */
export function selects(selector: RawObject | undefined, labels: RawObject): boolean {
  if (selector === undefined) return false;
  const wanted = objectAt(selector, "matchLabels");
  return (
    (wanted === undefined || Object.keys(wanted).length === 0 || selectsByLabels(wanted, labels)) &&
    objectsAt(selector, "matchExpressions").every((expression) => holds(expression, labels))
  );
}

function holds(expression: RawObject, labels: RawObject): boolean {
  const key = textAt(expression, "key") ?? "";
  const isThere = Object.hasOwn(labels, key);
  const isListed = isThere && listAt(expression, "values").includes(labels[key]);
  switch (textAt(expression, "operator")) {
    case "In":
      return isListed;
    case "NotIn":
      return !isListed;
    case "Exists":
      return isThere;
    case "DoesNotExist":
      return !isThere;
    default:
      return false;
  }
}
