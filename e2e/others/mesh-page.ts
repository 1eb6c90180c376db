/** Writes the table of Istio's guide from the rollouts in its mesh. Pure. */
import { table } from "../../test/programs/results/page.ts";
import { PROXY_KINDS, type ProxyKind } from "../client/mesh-app.ts";
import { MESH_ENDINGS, type MeshResult } from "../client/mesh-results.ts";

const PROXY_NAMES: Readonly<Record<ProxyKind, string>> = {
  native: "native proxy (init container)",
  classic: "regular proxy",
};

/** @throws if there are no results */
export function meshTable(results: readonly MeshResult[]): string {
  const [first] = results;
  if (first === undefined) throw new Error("no results; run npm run e2e -- --others -- istio");
  const rows = PROXY_KINDS.map((proxy) => [
    PROXY_NAMES[proxy],
    ...MESH_ENDINGS.map((ending) =>
      cellOf(results.find((result) => result.proxy === proxy && result.ending === ending)),
    ),
  ]);
  const dates = [...new Set(results.map(({ date }) => date))].sort().join(", ");
  return [
    `${first.versions}, ${dates}. Each cell: failed requests, and the time from the start of the rollout to the deletion of its last old Pod.`,
    table([["Pods with a", ...MESH_ENDINGS], ...rows]),
  ].join("\n\n");
}

function cellOf(result: MeshResult | undefined): string {
  return result === undefined ? "–" : `**${result.failed}** of ${result.requests}; ${result.seconds} s`;
}
