/** Codec of the manager's requests and limits, such as `cpu=10m/20m,memory=16Mi`. A single amount sets request and limit. */
import type { Codec } from "./codecs.ts";

type Amounts = { readonly cpu?: string; readonly memory?: string };
type ManagerResources = { readonly requests: Amounts; readonly limits: Amounts };

/** `auto` keeps the Pod's quality-of-service class. */
export type ResourcesChoice = "auto" | ManagerResources;

/** A Kubernetes quantity without exponent. */
const QUANTITY = "[0-9]{1,9}(\\.[0-9]{1,3})?(m|k|Ki|M|Mi|G|Gi)?";
const ENTRY = `(cpu|memory)=${QUANTITY}(/${QUANTITY})?`;

export const managerResources: Codec<ResourcesChoice> = {
  expects: "auto, or REQUEST/LIMIT such as cpu=10m/20m,memory=16Mi (a single amount sets both)",
  syntax: "short form of requests and limits",
  schema: { type: "string", pattern: `^auto$|^${ENTRY}(,${ENTRY})?$` },
  parse: parseResources,
  format: formatResources,
};

function parseResources(text: string): ResourcesChoice | undefined {
  if (text === "auto") return "auto";
  const requests: { cpu?: string; memory?: string } = {};
  const limits: { cpu?: string; memory?: string } = {};
  for (const entry of text.split(",")) {
    const match = new RegExp(`^(cpu|memory)=(${QUANTITY})(?:/(${QUANTITY}))?$`).exec(entry);
    const name = match?.[1];
    if (match === null || (name !== "cpu" && name !== "memory") || requests[name] !== undefined) return undefined;
    const request = match[2] ?? "";
    requests[name] = request;
    limits[name] = match[5] ?? request;
  }
  return { requests, limits };
}

function formatResources(choice: ResourcesChoice): string {
  if (choice === "auto") return "auto";
  const names = ["cpu", "memory"] as const;
  return names
    .filter((name) => choice.requests[name] !== undefined)
    .map((name) => `${name}=${choice.requests[name]}/${choice.limits[name]}`)
    .join(",");
}
