/** The state of a world, by the names of its CAs. */
import { pemBlocks } from "../../../src/authority/certificate.ts";
import { createWorld, type World } from "./simulated-cluster.ts";

/** Marks a CA that is remembered and no longer trusted. */
export const RETIRED = " (dropped)";

export type State = {
  readonly signer: string;
  readonly next: string;
  readonly retired: readonly string[];
  readonly bundles: readonly (readonly string[])[];
  readonly leaves: readonly string[];
};

export function stateOf(world: World): State {
  const data = world.store.secret()?.data ?? {};
  const rows = JSON.parse(data["retired.json"] ?? "[]") as readonly { certificate: string; dropped?: boolean }[];
  return {
    signer: namesIn(data["ca.crt"] ?? "").join(),
    next: namesIn(data["next.crt"] ?? "").join(),
    retired: rows.map((row) => `${namesIn(row.certificate).join()}${row.dropped === true ? RETIRED : ""}`),
    bundles: (world.store.configuration()?.bundles ?? []).map(namesIn),
    leaves: world.replicas.map((replica) => nameOf(replica.reconciler.leaf()?.cert ?? "")),
  };
}

/** Starts a world whose replicas are ready; `all` reconciles them one after the other. */
export async function startedWorld(
  size: number,
): Promise<{ readonly world: World; readonly all: () => Promise<void> }> {
  const world = createWorld(size);
  const all = async (): Promise<void> => {
    for (const replica of world.replicas) await world.reconcile(replica);
  };
  await all();
  return { world, all };
}

function namesIn(text: string): readonly string[] {
  return pemBlocks(text).blocks.map((block) => nameOf(block.id));
}

function nameOf(body: string): string {
  if (body === "") return "";
  const claims: unknown = JSON.parse(Buffer.from(body, "base64").toString());
  return typeof claims === "object" && claims !== null && "name" in claims ? String(claims.name) : "?";
}
