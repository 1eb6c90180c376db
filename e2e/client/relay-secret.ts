/** Renews and deletes the Secret with the relay's CA and keys. */
import type { V1Secret } from "@kubernetes/client-node";
import { CA_LIFE_MS } from "../../src/relay/identity/identity.ts";
import { entriesOf, IDENTITY_TOOLS } from "../../src/relay/identity/secret-content.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { managerOf, nameOf } from "./injected-pods.ts";
import { RELEASE_NAMESPACE } from "./release.ts";
import { appContainer, barePod } from "./sample-app.ts";
import { wouldCreate } from "./server-answer.ts";
import { webhookPods } from "./webhook-metrics.ts";

const SECRET = ["--namespace", RELEASE_NAMESPACE, "secret", "lastcall-relay"];
const HOUR_MS = 3_600_000;

/** The relay's identity in an injected Pod. */
export type Given = {
  /** The relay's server name, which changes with the CA. */
  readonly name: string;
  /** The key that signed the Pod's credential. */
  readonly kid: string;
};

/** Returns the access that the next Pod would get. @throws if it would get none */
export async function currentAccess(namespace: CaseNamespace): Promise<Given> {
  const { pods } = await wouldCreate(namespace.here, [barePod(namespace, "asked", [appContainer(namespace)])]);
  const [pod] = pods;
  const env = pod === undefined ? [] : (managerOf(pod).env ?? []);
  const valueIn = (name: string) => env.find((variable) => variable.name === name)?.value ?? "";
  const [name, kid = ""] = [valueIn("LASTCALL_RELAY_NAME"), valueIn("LASTCALL_RELAY_CREDENTIAL").split(".")[0]];
  if (name === "" || kid === "") throw new Error(`A Pod of ${namespace.name} would be given no relay.`);
  return { name, kid };
}

/** Waits until all replicas inject a new identity; any of them may answer. */
export function renewedAccess(namespace: CaseNamespace, before: Given): Promise<Given> {
  return waitUntil({ what: "Pods are given another CA and key", withinMs: 90_000, everyMs: 500 }, async () => {
    const several = [await currentAccess(namespace), await currentAccess(namespace), await currentAccess(namespace)];
    const [first] = several;
    const same = several.every(({ name, kid }) => name === first?.name && kid === first.kid);
    return same && first?.name !== before.name && first?.kid !== before.kid ? first : undefined;
  });
}

/**
 * Adds a CA and a key as a replica does when the current ones are old. They are backdated, since new ones would not be used
 * before the current ones: Pods get the CA that is valid longest, and a key signs an hour after its creation.
 */
export async function renew(namespace: CaseNamespace): Promise<void> {
  const nowMs = Date.now();
  const generation = await IDENTITY_TOOLS.makeCa(nowMs + 24 * HOUR_MS, nowMs - HOUR_MS);
  if (generation.validUntilMs <= nowMs + CA_LIFE_MS)
    throw new Error("the CA is not valid for longer than the present one");
  const key = IDENTITY_TOOLS.makeKey(nowMs - 2 * HOUR_MS);
  const secret = await namespace.kubectl.json<V1Secret>(["get", ...SECRET]);
  const added = entriesOf({ generations: [generation], keys: [key] });
  const data = Object.fromEntries(Object.entries(added).map(([name, text]) => [name, btoa(text)]));
  await namespace.kubectl.run(["patch", ...SECRET, "--type=merge", `--patch=${JSON.stringify({ data })}`]);
  namespace.note(`added to ${Object.keys(secret.data ?? {}).join(", ")}: ${Object.keys(data).join(", ")}`);
}

/** Deletes the Secret, as documented for an immediate renewal. Resolves when every replica has detected it. */
export async function lose(namespace: CaseNamespace): Promise<void> {
  const replicas = (await webhookPods(namespace.kubectl)).map(nameOf);
  const since = new Date(Date.now() - 1_000).toISOString();
  await namespace.kubectl.run(["delete", ...SECRET]);
  namespace.note("deleted the relay's Secret");
  await waitUntil({ what: "every replica has detected the missing CAs", withinMs: 60_000, everyMs: 500 }, async () => {
    const logs = replicas.map((name) => ["--namespace", RELEASE_NAMESPACE, "logs", name, `--since-time=${since}`]);
    const texts = await Promise.all(logs.map((words) => namespace.kubectl.run(words)));
    return texts.every((text) => text.includes(LOST)) ? true : undefined;
  });
}

/** The line in a replica's log. */
const LOST = "lost CAs that Pods pin";
