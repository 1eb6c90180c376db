/** Renews and deletes the Secret with the relay's CA and keys. */
import type { V1Secret } from "@kubernetes/client-node";
import { CA_LIFE_MS } from "../../src/relay/identity/identity.ts";
import { entriesOf, IDENTITY_TOOLS } from "../../src/relay/identity/secret-content.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { dryRunCreate } from "./create-pods.ts";
import { managerOf, nameOf } from "./injected-pods.ts";
import { RELEASE_NAMESPACE } from "./release.ts";
import { appContainer, barePod } from "./sample-app.ts";
import { listWebhookPods } from "./webhook-metrics.ts";

const RELAY_SECRET_ARGS = ["--namespace", RELEASE_NAMESPACE, "secret", "lastcall-relay"];
const HOUR_MS = 3_600_000;

/** The relay's identity in an injected Pod. */
export type RelayAccess = {
  /** The relay's server name, which changes with the CA. */
  readonly name: string;
  /** The key that signed the Pod's credential. */
  readonly kid: string;
};

/** Returns the relay's identity that a new Pod would get, by a dry run. @throws if the Pod would not get an identity */
export async function readCurrentAccess(namespace: CaseNamespace): Promise<RelayAccess> {
  const { pods } = await dryRunCreate(namespace.kubectl, [barePod(namespace, "probe", [appContainer(namespace)])]);
  const [pod] = pods;
  const env = pod === undefined ? [] : (managerOf(pod).env ?? []);
  const valueIn = (name: string) => env.find((variable) => variable.name === name)?.value ?? "";
  const [name, kid = ""] = [valueIn("LASTCALL_RELAY_NAME"), valueIn("LASTCALL_RELAY_CREDENTIAL").split(".")[0]];
  if (name === "" || kid === "")
    throw new Error(`Namespace ${namespace.name}: new Pods get no server name or credential of a relay.`);
  return { name, kid };
}

/** Waits until three dry runs, which different replicas may answer, inject the same new identity of the relay. */
export function waitForRenewedAccess(namespace: CaseNamespace, before: RelayAccess): Promise<RelayAccess> {
  return waitUntil({ condition: "new Pods get another CA and key", withinMs: 90_000, everyMs: 500 }, async () => {
    const samples = [
      await readCurrentAccess(namespace),
      await readCurrentAccess(namespace),
      await readCurrentAccess(namespace),
    ];
    const [first] = samples;
    const areEqual = samples.every(({ name, kid }) => name === first?.name && kid === first.kid);
    return areEqual && first?.name !== before.name && first?.kid !== before.kid ? first : undefined;
  });
}

/**
 * Adds a CA and a key, as a replica does when the current CA and key are old. Their times are chosen for immediate
 * use: Pods get the CA that expires last, and a key signs from an hour after its creation.
 */
export async function renewRelayIdentity(namespace: CaseNamespace): Promise<void> {
  const nowMs = Date.now();
  const ca = await IDENTITY_TOOLS.makeCa(nowMs + 24 * HOUR_MS, nowMs - HOUR_MS);
  if (ca.validUntilMs <= nowMs + CA_LIFE_MS)
    throw new Error("Secret lastcall-relay: the added CA does not expire later than the current one.");
  const key = IDENTITY_TOOLS.makeKey(nowMs - 2 * HOUR_MS);
  const secret = await namespace.clusterKubectl.json<V1Secret>(["get", ...RELAY_SECRET_ARGS]);
  const addedEntries = entriesOf({ cas: [ca], keys: [key] });
  const data = Object.fromEntries(Object.entries(addedEntries).map(([name, text]) => [name, btoa(text)]));
  await namespace.clusterKubectl.run([
    "patch",
    ...RELAY_SECRET_ARGS,
    "--type=merge",
    `--patch=${JSON.stringify({ data })}`,
  ]);
  namespace.addTimelineLine(`added to ${Object.keys(secret.data ?? {}).join(", ")}: ${Object.keys(data).join(", ")}`);
}

/** Deletes the Secret, as documented for an immediate renewal. Resolves when every replica has detected the deletion. */
export async function deleteRelaySecret(namespace: CaseNamespace): Promise<void> {
  const replicaNames = (await listWebhookPods(namespace.clusterKubectl)).map(nameOf);
  const sinceTime = new Date(Date.now() - 1_000).toISOString();
  await namespace.clusterKubectl.run(["delete", ...RELAY_SECRET_ARGS]);
  namespace.addTimelineLine("deleted the relay's Secret");
  await waitUntil(
    { condition: "every replica has detected the missing CAs", withinMs: 60_000, everyMs: 500 },
    async () => {
      const logArgs = replicaNames.map((name) => [
        "--namespace",
        RELEASE_NAMESPACE,
        "logs",
        name,
        `--since-time=${sinceTime}`,
      ]);
      const logs = await Promise.all(logArgs.map((args) => namespace.clusterKubectl.run(args)));
      return logs.every((text) => text.includes(LOST_CAS_MESSAGE)) ? true : undefined;
    },
  );
}

/** Part of the line that a replica logs when the Secret lacks a CA of running Pods. */
const LOST_CAS_MESSAGE = "CAs that running Pods trust were removed";
