/** The Secret that holds what the relay is known by: its renewal by another replica, and its loss. */
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

/** What a Pod is given to know the relay by, and to be known. */
export type Given = {
  /** The name that the relay has to prove; it changes with the CA. */
  readonly name: string;
  /** The key that signed the Pod's credential. */
  readonly kid: string;
};

/** What the next Pod would be given. @throws when it would be given no relay */
export async function givenNow(namespace: CaseNamespace): Promise<Given> {
  const { pods } = await wouldCreate(namespace.here, [barePod(namespace, "asked", [appContainer(namespace)])]);
  const [pod] = pods;
  const env = pod === undefined ? [] : (managerOf(pod).env ?? []);
  const valueIn = (name: string) => env.find((variable) => variable.name === name)?.value ?? "";
  const [name, kid = ""] = [valueIn("LASTCALL_RELAY_NAME"), valueIn("LASTCALL_RELAY_CREDENTIAL").split(".")[0]];
  if (name === "" || kid === "") throw new Error(`A Pod of ${namespace.name} would be given no relay.`);
  return { name, kid };
}

/** Waits until Pods of every replica would be given something else than before: one after the other may answer. */
export function givenAnew(namespace: CaseNamespace, before: Given): Promise<Given> {
  return waitUntil({ what: "Pods are given another CA and key", withinMs: 90_000, everyMs: 500 }, async () => {
    const several = [await givenNow(namespace), await givenNow(namespace), await givenNow(namespace)];
    const [first] = several;
    const same = several.every(({ name, kid }) => name === first?.name && kid === first.kid);
    return same && first?.name !== before.name && first?.kid !== before.kid ? first : undefined;
  });
}

/**
 * Adds a CA and a key as a replica does when the present ones are old. Ones made now would not be given to Pods before the
 * present ones are: of CAs the one valid longest is, and a key is settled for an hour before it signs.
 */
export async function renew(namespace: CaseNamespace): Promise<void> {
  const nowMs = Date.now();
  const generation = await IDENTITY_TOOLS.makeGeneration(nowMs + 24 * HOUR_MS, nowMs - HOUR_MS);
  if (generation.validUntilMs <= nowMs + CA_LIFE_MS)
    throw new Error("the CA is not valid for longer than the present one");
  const key = IDENTITY_TOOLS.makeKey(nowMs - 2 * HOUR_MS);
  const secret = await namespace.kubectl.json<V1Secret>(["get", ...SECRET]);
  const added = entriesOf({ generations: [generation], keys: [key] });
  const data = Object.fromEntries(Object.entries(added).map(([name, text]) => [name, btoa(text)]));
  await namespace.kubectl.run(["patch", ...SECRET, "--type=merge", `--patch=${JSON.stringify({ data })}`]);
  namespace.note(`added to ${Object.keys(secret.data ?? {}).join(", ")}: ${Object.keys(data).join(", ")}`);
}

/** As the documentation tells people who want everything new at once. Resolves when every replica has noticed. */
export async function lose(namespace: CaseNamespace): Promise<void> {
  const replicas = (await webhookPods(namespace.kubectl)).map(nameOf);
  const since = new Date(Date.now() - 1_000).toISOString();
  await namespace.kubectl.run(["delete", ...SECRET]);
  namespace.note("deleted the relay's Secret");
  await waitUntil({ what: "every replica knows that the CAs are gone", withinMs: 60_000, everyMs: 500 }, async () => {
    const logs = replicas.map((name) => ["--namespace", RELEASE_NAMESPACE, "logs", name, `--since-time=${since}`]);
    const texts = await Promise.all(logs.map((words) => namespace.kubectl.run(words)));
    return texts.every((text) => text.includes(LOST)) ? true : undefined;
  });
}

/** Of a replica's log. */
const LOST = "lost CAs that Pods pin";
