/** Reviews that other projects recorded from API servers, whole or only the request in them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import jsonPatch, { type Operation } from "fast-json-patch";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { toReview } from "../../src/injection/review.ts";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { inject } from "./given.ts";

const FOLDER = join(import.meta.dirname, "../fixtures/admission-reviews");
const FILES = readdirSync(FOLDER).filter((file) => /\.(json|yaml)$/.test(file));

type Request = { readonly kind?: { readonly kind?: string }; readonly object?: { readonly kind?: string } };

function requestIn(file: string): Request {
  const document = parse(readFileSync(join(FOLDER, file), "utf8")) as Request & { readonly request?: Request };
  return document.request ?? document;
}

test.for(FILES)("%s goes in, its patch gives the Pod, a second pass changes nothing, and it comes back", (file) => {
  const received = requestIn(file).object ?? {};
  const untouched = JSON.parse(JSON.stringify(received)) as object;
  const outcome = inject(received);
  expect(received).toStrictEqual(untouched);
  if (outcome.kind !== "patched") {
    // Only what is no Pod, or one without containers, is left alone here.
    expect(outcome).toMatchObject({ reason: "invalid_pod" });
    return;
  }
  const { response } = toReview("7", outcome);
  const patch = JSON.parse(Buffer.from(response.patch ?? "", "base64").toString("utf8")) as Operation[];
  expect(jsonPatch.applyPatch(untouched, patch, true).newDocument).toStrictEqual(outcome.pod);
  expect(inject(outcome.pod)).toMatchObject({ reason: "up_to_date" });
  expect(uninjectPod(outcome.pod)).toStrictEqual({ kind: "uninjected", pod: received });
});

test("most of the recorded reviews are of Pods that get the manager", () => {
  const outcomes = FILES.map((file) => inject(requestIn(file).object ?? {}).kind);
  expect(outcomes.filter((kind) => kind === "patched").length).toBeGreaterThanOrEqual(6);
});
