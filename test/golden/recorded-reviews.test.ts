/** Reviews recorded from API servers through both doors: the webhook's patch gives what the command line prints. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import jsonPatch from "fast-json-patch";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { injectPod } from "../../src/injection/inject.ts";
import { lastcall } from "../cli/run-lastcall.ts";
import { JSON_HEADERS, reviewText } from "../webhook/pod-review.ts";
import { FACTS, serverUnderTest } from "../webhook/server-under-test.ts";

const FOLDER = join(import.meta.dirname, "../fixtures/admission-reviews");
const FILES = readdirSync(FOLDER).filter((file) => /\.(json|yaml)$/.test(file));
const TOKEN = "0123456789abcdef0123456789abcdef";

type Recorded = { readonly kind?: string; readonly metadata?: { readonly namespace?: string } };

function podIn(file: string): Recorded {
  const document = parse(readFileSync(join(FOLDER, file), "utf8"));
  return (document.request ?? document).object ?? {};
}

async function throughWebhook(pod: Recorded, namespace: string): Promise<unknown> {
  const { app } = serverUnderTest({
    inject: (request, config, facts) => injectPod(request, config, facts, { newToken: () => TOKEN }),
  });
  const payload = reviewText({ object: pod, namespace });
  const answer = await app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
  const { patch } = answer.json().response;
  const operations = JSON.parse(Buffer.from(patch ?? btoa("[]"), "base64").toString());
  return jsonPatch.applyPatch(structuredClone(pod), operations, true).newDocument;
}

test.for(FILES.filter((file) => podIn(file).kind === "Pod"))("%s is the same Pod through both doors", async (file) => {
  const pod = podIn(file);
  const namespace = pod.metadata?.namespace ?? "default";
  const flags = [
    "--kube-version",
    FACTS.apiServerVersion,
    "--kubelet-version",
    "unknown",
    "--image",
    FACTS.managerImage,
  ];
  // On the wire a Pod inside a review may leave out its apiVersion; a manifest may not.
  const manifest = JSON.stringify({ apiVersion: "v1", ...pod });
  const { out } = await lastcall(["inject", ...flags], { "-": manifest }, TOKEN);
  expect(JSON.parse(out)).toEqual({ apiVersion: "v1", ...((await throughWebhook(pod, namespace)) as object) });
});

test("the recorded reviews hold Pods that both doors change", async () => {
  const pods = FILES.map(podIn).filter(({ kind }) => kind === "Pod");
  const changed = await Promise.all(pods.map((pod) => throughWebhook(pod, pod.metadata?.namespace ?? "default")));
  expect(changed.filter((pod, index) => JSON.stringify(pod) !== JSON.stringify(pods[index])).length).toBeGreaterThan(5);
});
