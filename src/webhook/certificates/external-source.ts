/** The server's certificate from files renewed elsewhere, with the caBundle of every webhook kept right for them. */
import { Fault } from "../../fault.ts";
import type { Moment } from "./authority.ts";
import { type BroughtMemory, decideBrought, isTrustedBy } from "./external-bundle.ts";
import type { BroughtPair } from "./external-pair.ts";
import type { KeeperEvent } from "./reconciler.ts";
import { type CertificateSource, complaintAbout } from "./source.ts";
import type { WebhookConfigurations } from "./webhook-configurations.ts";

export type BroughtPorts = {
  /** Rejects with a Fault when the files are not usable now. */
  readonly read: () => Promise<BroughtPair>;
  readonly configurations: WebhookConfigurations;
  readonly now: () => Moment;
  readonly settleMs: number;
  readonly tell: (event: KeeperEvent) => void;
};

/** Writes of this replica plus lost races in one look. */
const ROUND_LIMIT = 8;

/** @throws Fault ERR_CERTIFICATE_UNREADABLE when the files are unusable at the start */
export async function broughtSource(ports: BroughtPorts): Promise<CertificateSource> {
  let memory: BroughtMemory = { serving: await ports.read(), strangers: new Map(), waiting: undefined };
  let distrust = "the webhook configuration was not read yet";
  let failure = "";
  let wasRead = false;

  const keepBundles = async (offered: BroughtPair): Promise<void> => {
    for (let round = 0; round < ROUND_LIMIT; round += 1) {
      const moment = ports.now();
      const found = await ports.configurations.read();
      if (found === undefined) throw new Error(`there is no ${ports.configurations.what}`);
      const decided = decideBrought({ moment, bundles: found.bundles, offered }, memory, ports.settleMs);
      memory = decided.memory;
      wasRead = true;
      distrust = isTrustedBy(found.bundles, memory.serving)
        ? ""
        : "the webhook configuration does not trust the certificate";
      if (decided.publish === undefined) return;
      const written = await ports.configurations.writeBundle(found, decided.publish);
      ports.tell(
        written === "done"
          ? { kind: "bundle-written", cas: decided.publish.split("BEGIN CERTIFICATE").length - 1 }
          : { kind: "conflict", on: "configuration" },
      );
    }
    throw new Error(`the webhook configuration was changed by others ${ROUND_LIMIT} times in a row`);
  };

  return {
    current: () => memory.serving,
    complaint: (nowMs) => {
      if (!wasRead && failure !== "") return failure;
      return distrust === "" ? complaintAbout(memory.serving, nowMs) : distrust;
    },
    refresh: async () => {
      const before = memory.serving;
      const read = await ports.read().then(
        (pair) => ({ pair, fault: undefined }),
        // The bundles are kept right for the pair in use, whatever the files are like.
        (error: unknown) => ({ pair: before, fault: asFault(error) }),
      );
      const fault = await keepBundles(read.pair).then(
        () => read.fault,
        (error: unknown) => asFault(error),
      );
      failure = fault?.message ?? "";
      if (memory.serving !== before) return { kind: "changed" };
      return fault === undefined ? { kind: "same" } : { kind: "unusable", fault };
    },
  };
}

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("ERR_AUTHORITY_UNREACHABLE", error instanceof Error ? error.message : String(error), error);
}
