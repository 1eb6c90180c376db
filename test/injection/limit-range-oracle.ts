/**
 * The API server's LimitRanger, reimplemented from its documentation: it sets defaults first, then refuses what is out of
 * bounds. Amounts are whole millicores and mebibytes, so that rounding cannot hide an error.
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

const NAMES = ["cpu", "memory"] as const;

export function withDefaults(container: OracleContainer, items: readonly OracleItem[]): OracleContainer {
  const requests: { cpu?: number; memory?: number } = { ...container.requests };
  const limits: { cpu?: number; memory?: number } = { ...container.limits };
  for (const name of NAMES) {
    // The API's own defaulting: a limit without a request is also the request.
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

/** The reasons of a refusal; empty if the Pod is admitted. */
export function refusals(containers: readonly OracleContainer[], items: readonly OracleItem[]): readonly string[] {
  return items.flatMap((item) =>
    NAMES.flatMap((name) => {
      if (item.type === "Pod") return complaints(sumOf(containers), item, name);
      return containers.flatMap((container) => complaints(container, item, name));
    }),
  );
}

function complaints(asked: OracleContainer, item: OracleItem, name: "cpu" | "memory"): readonly string[] {
  const request = asked.requests[name];
  const limit = asked.limits[name];
  const { [name]: min } = item.min;
  const { [name]: max } = item.max;
  const { [name]: ratio } = item.ratio;
  const found: string[] = [];
  if (min !== undefined && (request === undefined || request < min)) found.push(`${name} request below min`);
  if (min !== undefined && limit !== undefined && limit < min) found.push(`${name} limit below min`);
  if (max !== undefined && (limit === undefined || limit > max)) found.push(`${name} limit above max`);
  if (max !== undefined && request !== undefined && request > max) found.push(`${name} request above max`);
  const isWrong = item.type === "Container" && request !== undefined && limit !== undefined && request > limit;
  if (isWrong) found.push(`${name} request above limit`);
  if (ratio !== undefined && (!request || !limit || limit > request * ratio)) found.push(`${name} ratio`);
  return found.map((what) => `${item.type}: ${what}`);
}

function sumOf(containers: readonly OracleContainer[]): OracleContainer {
  const total = (list: "requests" | "limits", name: "cpu" | "memory"): Amounts => {
    const given = containers.flatMap((container) => container[list][name] ?? []);
    return given.length === 0 ? {} : { [name]: given.reduce((left, right) => left + right, 0) };
  };
  return {
    requests: { ...total("requests", "cpu"), ...total("requests", "memory") },
    limits: { ...total("limits", "cpu"), ...total("limits", "memory") },
  };
}
