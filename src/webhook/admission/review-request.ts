/** Parses an AdmissionReview, or reports in one sentence why it is malformed. Pure. */
import { isRawObject, type RawObject } from "../../kubernetes/raw-json.ts";
import { quote } from "../../policy/quote.ts";
import type { MalformedReason } from "../admission-outcome.ts";

export type ReviewRequest = {
  readonly uid: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly pod: object | undefined;
  readonly object: RawObject | undefined;
  readonly podName: string;
};

type ReadReview =
  | { readonly kind: "request"; readonly request: ReviewRequest }
  | { readonly kind: "malformed"; readonly reason: MalformedReason; readonly message: string };

const API_VERSION = "admission.k8s.io/v1";

export function readReview(text: string): ReadReview {
  if (text.trim() === "") return malformed("empty_body", "The body is empty, expected an AdmissionReview as JSON.");
  let value: unknown;
  try {
    // As in the API server, the last of two equal keys wins. JSON.parse stores the key __proto__ as a plain property.
    value = JSON.parse(text);
  } catch (error) {
    return readParseError(error, text.length);
  }
  return readValue(value);
}

function readValue(review: unknown): ReadReview {
  if (!isRawObject(review)) {
    return malformed("wrong_kind", `The body is ${nameOf(review)}, expected an AdmissionReview object.`);
  }
  if (review["kind"] !== "AdmissionReview") {
    return malformed("wrong_kind", `The kind is ${nameOf(review["kind"])}, expected "AdmissionReview".`);
  }
  if (review["apiVersion"] !== API_VERSION) {
    const got = nameOf(review["apiVersion"]);
    return malformed("wrong_version", `The apiVersion is ${got}, expected ${API_VERSION}.`);
  }
  const request = review["request"];
  if (!isRawObject(request)) {
    return malformed("no_request", `The field request is ${nameOf(request)}, expected an object.`);
  }
  const uid = request["uid"];
  if (typeof uid !== "string" || uid === "") {
    return malformed("no_uid", `The field request.uid is ${nameOf(uid)}, expected text.`);
  }
  return readRequest(request, uid);
}

function readRequest(request: Readonly<Record<string, unknown>>, uid: string): ReadReview {
  const pod = request["object"];
  const dryRun = request["dryRun"] === true;
  const creation = isPodCreation(request);
  if (creation && !isRawObject(pod)) {
    return malformed("no_object", `The field request.object is ${nameOf(pod)}, expected a Pod object.`);
  }
  const metadata = isRawObject(pod) && isRawObject(pod["metadata"]) ? pod["metadata"] : {};
  const namespace = textOf(request["namespace"]) || textOf(metadata["namespace"]) || "default";
  const podName = textOf(metadata["name"]) || textOf(metadata["generateName"]);
  return {
    kind: "request",
    request: {
      uid,
      namespace,
      dryRun,
      pod: creation && isRawObject(pod) ? pod : undefined,
      object: isRawObject(pod) ? pod : undefined,
      podName,
    },
  };
}

/** If `operation` or `resource` is absent, the request counts as the creation of a Pod. */
function isPodCreation(request: Readonly<Record<string, unknown>>): boolean {
  const resource = request["resource"];
  const isPod =
    !isRawObject(resource) || ((resource["group"] ?? "") === "" && (resource["resource"] ?? "pods") === "pods");
  return (request["operation"] ?? "CREATE") === "CREATE" && isPod && (request["subResource"] ?? "") === "";
}

/** V8's message may quote secrets of the body, so only the position is read from the message. */
function readParseError(error: unknown, length: number): ReadReview {
  const detail = error instanceof Error ? error.message : "";
  if (/^(Unexpected end|Unterminated)/.test(detail)) {
    return malformed("truncated_json", `The body ends after ${length} characters, with incomplete JSON.`);
  }
  const position = /position ([0-9]+)/.exec(detail)?.[1];
  return malformed("invalid_json", `The body is not JSON${position === undefined ? "" : `, at position ${position}`}.`);
}

function malformed(reason: MalformedReason, message: string): ReadReview {
  return { kind: "malformed", reason, message };
}

/** Longest name in Kubernetes; longer text is truncated in the log. */
const NAME_LIMIT_CHARACTERS = 253;

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, NAME_LIMIT_CHARACTERS) : "";
}

function nameOf(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
