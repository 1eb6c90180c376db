/** Formats and parses the status annotation of sleep mode, which contains the record because there is no manager. */
import { VERSION } from "../../contract/version.ts";
import { ANNOTATIONS_LIMIT_BYTES, annotationsOf } from "../../kubernetes/pod.ts";
import { isRawObject, listAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";
import { type OriginalRecord, readRecord } from "./original-record.ts";

type SleepStatus = {
  readonly seconds: number;
  readonly hooks: readonly string[];
  readonly record: OriginalRecord;
};

export function formatSleepStatus(
  status: Pick<SleepStatus, "seconds" | "hooks"> & { readonly recordText: string },
): string {
  const { seconds, hooks, recordText } = status;
  return JSON.stringify({
    version: VERSION,
    mode: "sleep",
    seconds,
    hooks,
    original: JSON.parse(recordText),
  });
}

/** Parses the annotation, which may be forged: the caller has to compare it with the Pod. */
export function readSleepStatus(pod: RawObject): SleepStatus | undefined {
  const text = textAt(annotationsOf(pod), STATUS_ANNOTATION);
  if (text?.startsWith("{") !== true || text.length > ANNOTATIONS_LIMIT_BYTES) return undefined;
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRawObject(status) || status["mode"] !== "sleep") return undefined;
  const seconds = wholeNumberAt(status, "seconds");
  const record = readRecord(status["original"]);
  const hooks = listAt(status, "hooks").filter((name) => typeof name === "string");
  if (seconds === undefined || seconds < 1 || record === undefined || hooks.length === 0) return undefined;
  return { seconds, hooks, record };
}
