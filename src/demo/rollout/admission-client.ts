/** Plays the API server for one webhook: posts a review over verified HTTPS and applies the patch that comes back. */
import { randomUUID } from "node:crypto";
import { request } from "node:https";
import jsonPatch, { type Operation } from "fast-json-patch";
import { Fault } from "../../fault.ts";
import { listAt, objectAt, textAt, textsAt } from "../json.ts";

export type AdmissionTarget = {
  readonly host: string;
  readonly port: number;
  /** PEM; the webhook's certificate must be signed by it and name `localhost`. */
  readonly authority: string;
};

type Admitted = { readonly pod: object; readonly warnings: readonly string[]; readonly changed: boolean };

/** As the API server's default for a webhook. */
const TIMEOUT_MS = 10_000;

/** @throws Fault ERR_DEMO_FAILED when the webhook does not answer, refuses, or answers with something else. */
export async function admitPod(pod: object, target: AdmissionTarget): Promise<Admitted> {
  const uid = randomUUID();
  const answer = await post(target, JSON.stringify(reviewOf(pod, uid)));
  const response = objectAt(answer, "response");
  if (textAt(response, "uid") !== uid) throw new Fault("ERR_DEMO_FAILED", "the webhook answered another review");
  if (response["allowed"] !== true) {
    throw new Fault("ERR_DEMO_FAILED", `the webhook refused the Pod: ${textAt(response, "status", "message") ?? ""}`);
  }
  const patch = textAt(response, "patch");
  const operations = patch === undefined ? [] : operationsOf(JSON.parse(Buffer.from(patch, "base64").toString()));
  const changed = jsonPatch.applyPatch(structuredClone(pod), operations, true).newDocument;
  return { pod: changed, warnings: textsAt(response, "warnings"), changed: operations.length > 0 };
}

function operationsOf(value: unknown): Operation[] {
  const operations: Operation[] = [];
  for (const item of listAt({ value }, "value")) if (isOperation(item)) operations.push(item);
  return operations;
}

function isOperation(item: unknown): item is Operation {
  return textAt(item, "op") !== undefined && textAt(item, "path") !== undefined;
}

function reviewOf(pod: object, uid: string): object {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid,
      kind: { group: "", version: "v1", kind: "Pod" },
      resource: { group: "", version: "v1", resource: "pods" },
      requestKind: { group: "", version: "v1", kind: "Pod" },
      requestResource: { group: "", version: "v1", resource: "pods" },
      namespace: textAt(pod, "metadata", "namespace") ?? "default",
      operation: "CREATE",
      userInfo: { username: "system:serviceaccount:kube-system:replicaset-controller" },
      object: pod,
      oldObject: null,
      dryRun: false,
      options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
    },
  };
}

function post(target: AdmissionTarget, body: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (detail: string, cause?: unknown) => reject(new Fault("ERR_DEMO_FAILED", detail, cause));
    const call = request(
      {
        host: target.host,
        servername: "localhost",
        port: target.port,
        path: "/mutate?timeout=10s",
        method: "POST",
        ca: target.authority,
        agent: false,
        headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      (answer) => {
        const chunks: Uint8Array[] = [];
        answer.on("data", (chunk: Uint8Array) => chunks.push(chunk));
        answer.once("error", (error) => fail("the webhook's answer broke off", error));
        answer.once("end", () => {
          const text = Buffer.concat(chunks).toString();
          if (answer.statusCode !== 200) fail(`the webhook answered ${answer.statusCode}: ${text.slice(0, 300)}`);
          else resolve(JSON.parse(text));
        });
      },
    );
    call.once("error", (error) => fail("the webhook cannot be reached", error));
    call.end(body);
  });
}
