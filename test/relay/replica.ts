/** Runs the real program with its relay, and a fake API server that only stores objects. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type FakeApiServer, kubeconfigFor } from "../api-server/fake-api-server.ts";
import { eventually } from "../time/eventually.ts";
import { reviewText } from "../webhook/pod-review.ts";
import { type RunningWebhook, sendRequest, startWebhook } from "../webhook/running-webhook.ts";

const ADDRESS = "[10.96.0.7]:443";

export type Replica = RunningWebhook & {
  /** Returns the port on which the relay most recently started to listen; 0 before its first start. */
  readonly relayPort: () => number;
};

/** Resolves once admissions are served, which may be before the relay is ready. */
export async function startReplica(
  api: Pick<FakeApiServer, "url">,
  args: readonly string[] = [`--relay-address=${ADDRESS}`],
): Promise<Replica> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-relay-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigFor(api.url));
  const portFlags = args.some((arg) => arg.startsWith("--relay-port=")) ? [] : ["--relay-port=0"];
  const clusterFlags = ["--cluster=watch", `--kubeconfig=${kubeconfig}`, "--relay-secret=lastcall-relay", ...portFlags];
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const replica = await startWebhook(["--opt-in=all", "--certificate-check=200ms", ...clusterFlags, ...args]);
    const relayPort = (): number => Number([...replica.output().matchAll(/"relayPort":([0-9]+)/g)].at(-1)?.[1] ?? 0);
    return { ...replica, relayPort, destroy: () => replica.destroy().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

export type Variables = Readonly<Record<string, string>>;

/** @returns the admitted Pod, and the environment variables of its manager; the value of a fieldRef is its field path */
export async function admitPod(replica: RunningWebhook, pod: object): Promise<{ pod: object; variables: Variables }> {
  const { default: jsonPatch } = await import("fast-json-patch");
  const reply = await sendRequest(replica, { path: "/mutate", body: reviewText({ object: pod }) });
  const { response } = JSON.parse(reply.body) as { readonly response: { readonly patch?: string } };
  const patch = JSON.parse(Buffer.from(response.patch ?? "W10=", "base64").toString());
  const injectedPod = jsonPatch.applyPatch(structuredClone(pod), patch).newDocument as InjectedPod;
  const manager = injectedPod.spec.initContainers?.find(({ name }) => name === "lastcall");
  const entries = (manager?.env ?? []).map(({ name, value, valueFrom }) => [
    name,
    value ?? valueFrom?.fieldRef.fieldPath ?? "",
  ]);
  return { pod: injectedPod, variables: Object.fromEntries(entries) };
}

/** Admits the Pod repeatedly, until this replica injects the relay's variables. */
export async function admitWithRelay(
  replica: RunningWebhook,
  pod: object,
): Promise<{ pod: object; variables: Variables }> {
  return eventually(async () => {
    const admission = await admitPod(replica, pod);
    expect(Object.keys(admission.variables)).toContain("LASTCALL_RELAY_CREDENTIAL");
    return admission;
  });
}

type InjectedPod = {
  readonly spec: {
    readonly initContainers?: readonly {
      readonly name: string;
      readonly env: readonly {
        readonly name: string;
        readonly value?: string;
        readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
      }[];
    }[];
  };
};

export type RelayRequest = {
  readonly path: string;
  readonly body?: unknown;
  readonly authorization?: string;
  readonly method?: string;
  /** Called with the text received until now, after each chunk. */
  readonly onText?: (text: string) => void;
};

/** Sends a request as a manager does: by address, with the injected CA and server name. */
export async function requestRelay(
  replica: Pick<Replica, "relayPort">,
  variables: Variables,
  { path, body, authorization, method = "POST", onText }: RelayRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const ca = `-----BEGIN CERTIFICATE-----\n${variables["LASTCALL_RELAY_CA"]}\n-----END CERTIFICATE-----\n`;
  const servername = variables["LASTCALL_RELAY_NAME"] ?? "";
  const headers = {
    "content-type": "application/json",
    authorization: authorization ?? `Lastcall ${variables["LASTCALL_RELAY_CREDENTIAL"]}`,
  };
  await eventually(() => expect(replica.relayPort()).not.toBe(0));
  return new Promise((resolve, reject) => {
    const address = { host: "127.0.0.1", port: replica.relayPort(), ca, servername, agent: false as const };
    const clientRequest = request({ ...address, path, method, headers }, (reply) => {
      let text = "";
      reply.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        onText?.(text);
      });
      reply.on("end", () => resolve({ status: reply.statusCode ?? 0, text }));
      reply.on("error", reject);
    });
    clientRequest.on("error", reject);
    clientRequest.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
