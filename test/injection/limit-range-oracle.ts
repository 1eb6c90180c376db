/**
 * Reimplements the API server's LimitRanger plugin from its documentation: sets defaults, then refuses amounts out of bounds.
 * Amounts are whole millicores and mebibytes, so that rounding cannot hide an error.
 */
export type Amounts = { readonly cpu?: number; readonly memory?: number };
export type OracleItem = {
  readonly type: "Container" | "Pod";
  readonly min: Amounts;
  readonly max: Amounts;
  readonly default: Amounts;
  readonly defaultRequest: Amounts;
  readonly ratio: Amounts;
};
export type OracleContainer = { readonly requests: Amounts; readonly limits: Amounts };

const RESOURCE_NAMES = ["cpu", "memory"] as const;

export function applyDefaults(container: OracleContainer, items: readonly OracleItem[]): OracleContainer {
  const requests: { cpu?: number; memory?: number } = { ...container.requests };
  const limits: { cpu?: number; memory?: number } = { ...container.limits };
  for (const name of RESOURCE_NAMES) {
    // The API server sets a missing request to the limit.
    if (requests[name] === undefined && limits[name] !== undefined) requests[name] = limits[name];
    for (const item of items.filter(({ type }) => type === "Container")) {
      const { [name]: limit } = item.default;
      const { [name]: request } = item.defaultRequest;
      if (limits[name] === undefined && limit !== undefined) limits[name] = limit;
      if (requests[name] === undefined && request !== undefined) requests[name] = request;
    }
  }
  return { requests, limits };
}

/** Returns the reasons of a refusal; empty if the Pod is admitted. */
export function refusalsOf(containers: readonly OracleContainer[], items: readonly OracleItem[]): readonly string[] {
  return items.flatMap((item) =>
    RESOURCE_NAMES.flatMap((name) => {
      if (item.type === "Pod") return violationsOf(sumOf(containers), item, name);
      return containers.flatMap((container) => violationsOf(container, item, name));
    }),
  );
}

function violationsOf(container: OracleContainer, item: OracleItem, name: "cpu" | "memory"): readonly string[] {
  const request = container.requests[name];
  const limit = container.limits[name];
  const { [name]: min } = item.min;
  const { [name]: max } = item.max;
  const { [name]: ratio } = item.ratio;
  const violations: string[] = [];
  if (min !== undefined && (request === undefined || request < min)) violations.push(`${name} request below min`);
  if (min !== undefined && limit !== undefined && limit < min) violations.push(`${name} limit below min`);
  if (max !== undefined && (limit === undefined || limit > max)) violations.push(`${name} limit above max`);
  if (max !== undefined && request !== undefined && request > max) violations.push(`${name} request above max`);
  const exceedsLimit = item.type === "Container" && request !== undefined && limit !== undefined && request > limit;
  if (exceedsLimit) violations.push(`${name} request above limit`);
  if (ratio !== undefined && (!request || !limit || limit > request * ratio)) violations.push(`${name} ratio`);
  return violations.map((violation) => `${item.type}: ${violation}`);
}

function sumOf(containers: readonly OracleContainer[]): OracleContainer {
  const sumAmounts = (list: "requests" | "limits", name: "cpu" | "memory"): Amounts => {
    const amounts = containers.flatMap((container) => container[list][name] ?? []);
    return amounts.length === 0 ? {} : { [name]: amounts.reduce((left, right) => left + right, 0) };
  };
  return {
    requests: { ...sumAmounts("requests", "cpu"), ...sumAmounts("requests", "memory") },
    limits: { ...sumAmounts("limits", "cpu"), ...sumAmounts("limits", "memory") },
  };
}
