/** Sends AdmissionReviews to the webhook as the API server does, over verified HTTPS, and applies the patches. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import jsonPatch, { type Operation } from "fast-json-patch";
import { Fault } from "../../fault.ts";
import { listAt, objectAt, parsedJson, textAt, textsAt } from "../json.ts";

export type AdmissionTarget = {
  readonly host: string;
  readonly port: number;
  /** CA certificate in PEM; the webhook's certificate must name `localhost`. */
  readonly authority: string;
};

type AdmittedPod = { readonly pod: object; readonly warnings: readonly string[]; readonly changed: boolean };

const TIMEOUT_MS = 10_000;

/** @throws Fault ERR_DEMO_FAILED when the webhook cannot be reached, rejects the Pod, or sends an invalid response. */
export async function admitPod(pod: object, target: AdmissionTarget): Promise<AdmittedPod> {
  const uid = randomUUID();
  const { status, body } = await post(target, JSON.stringify(reviewOf(pod, uid)));
  if (status !== 200)
    throw new Fault("ERR_DEMO_FAILED", `the webhook responded with status ${status}: ${body.slice(0, 300)}`);
  const response = objectAt(parsedJson(body), "response");
  if (textAt(response, "uid") !== uid)
    throw new Fault("ERR_DEMO_FAILED", "the webhook's response has the uid of another review");
  if (response["allowed"] !== true)
    throw new Fault("ERR_DEMO_FAILED", `the webhook rejected the Pod: ${textAt(response, "status", "message") ?? ""}`);
  const patch = Buffer.from(textAt(response, "patch") ?? "", "base64").toString();
  const operations = listAt(parsedJson(patch)).filter(isOperation);
  const changed = jsonPatch.applyPatch(structuredClone(pod), operations, true).newDocument;
  return { pod: changed, warnings: textsAt(response, "warnings"), changed: operations.length > 0 };
}

function isOperation(item: unknown): item is Operation {
  return textAt(item, "op") !== undefined && textAt(item, "path") !== undefined;
}

function reviewOf(pod: object, uid: string): object {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid,
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
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

async function post({ host, port, authority }: AdmissionTarget, body: string) {
  const call = request({
    host,
    servername: "localhost",
    port,
    path: "/mutate?timeout=10s",
    method: "POST",
    ca: authority,
    agent: false,
    headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  try {
    call.end(body);
    const [response]: IncomingMessage[] = await once(call, "response");
    return { status: response?.statusCode, body: response === undefined ? "" : await text(response) };
  } catch (cause) {
    throw new Fault("ERR_DEMO_FAILED", `cannot reach the webhook on ${host}:${port}`, cause);
  }
}
