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

type ReviewReading =
  | { readonly kind: "request"; readonly request: ReviewRequest }
  | { readonly kind: "malformed"; readonly reason: MalformedReason; readonly message: string };

const API_VERSION = "admission.k8s.io/v1";

export function readReview(text: string): ReviewReading {
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

function readValue(review: unknown): ReviewReading {
  if (!isRawObject(review)) {
    return malformed("wrong_kind", `The body is ${descriptionOf(review)}, expected an AdmissionReview object.`);
  }
  if (review["kind"] !== "AdmissionReview") {
    return malformed("wrong_kind", `The kind is ${descriptionOf(review["kind"])}, expected "AdmissionReview".`);
  }
  if (review["apiVersion"] !== API_VERSION) {
    const got = descriptionOf(review["apiVersion"]);
    return malformed("wrong_version", `The apiVersion is ${got}, expected ${API_VERSION}.`);
  }
  const request = review["request"];
  if (!isRawObject(request)) {
    return malformed("no_request", `The field request is ${descriptionOf(request)}, expected an object.`);
  }
  const uid = request["uid"];
  if (typeof uid !== "string" || uid === "") {
    return malformed("no_uid", `The field request.uid is ${descriptionOf(uid)}, expected text.`);
  }
  return readRequest(request, uid);
}

function readRequest(request: Readonly<Record<string, unknown>>, uid: string): ReviewReading {
  const object = request["object"];
  const dryRun = request["dryRun"] === true;
  const isCreation = isPodCreation(request);
  if (isCreation && !isRawObject(object)) {
    return malformed("no_object", `The field request.object is ${descriptionOf(object)}, expected a Pod object.`);
  }
  const metadata = isRawObject(object) && isRawObject(object["metadata"]) ? object["metadata"] : {};
  const namespace = truncatedText(request["namespace"]) || truncatedText(metadata["namespace"]) || "default";
  const podName = truncatedText(metadata["name"]) || truncatedText(metadata["generateName"]);
  return {
    kind: "request",
    request: {
      uid,
      namespace,
      dryRun,
      pod: isCreation && isRawObject(object) ? object : undefined,
      object: isRawObject(object) ? object : undefined,
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
function readParseError(error: unknown, length: number): ReviewReading {
  const detail = error instanceof Error ? error.message : "";
  if (/^(Unexpected end|Unterminated)/.test(detail)) {
    return malformed("truncated_json", `The body ends after ${length} characters, with incomplete JSON.`);
  }
  const position = /position ([0-9]+)/.exec(detail)?.[1];
  return malformed("invalid_json", `The body is not JSON${position === undefined ? "" : `, at position ${position}`}.`);
}

function malformed(reason: MalformedReason, message: string): ReviewReading {
  return { kind: "malformed", reason, message };
}

/** Longest name in Kubernetes; longer text is truncated in the log. */
const NAME_LIMIT_CHARACTERS = 253;

function truncatedText(value: unknown): string {
  return typeof value === "string" ? value.slice(0, NAME_LIMIT_CHARACTERS) : "";
}

function descriptionOf(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
