/** Injects a Pod through the webhook and through the command line, for the same cluster and with the same token. */
import jsonPatch from "fast-json-patch";
import { injectPod } from "../../src/injection/inject.ts";
import { type CommandResult, lastcall } from "../cli/run-lastcall.ts";
import { JSON_HEADERS, type RequestFields, reviewText } from "../webhook/pod-review.ts";
import { createServerUnderTest, FACTS } from "../webhook/server-under-test.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const FLAGS = [
  ...["--kube-version", FACTS.apiServerVersion],
  ...["--kubelet-version", "unknown"],
  ...["--image", FACTS.managerImage],
];

export function throughCommandLine(text: string): Promise<CommandResult> {
  return lastcall(["inject", ...FLAGS], { "-": text }, TOKEN);
}

/** Returns the object after the webhook's patch; without a patch, the object itself. */
export async function throughWebhook(
  object: unknown,
  fields: RequestFields = {},
  namespaceAnnotations: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const { app } = createServerUnderTest({
    inject: (request, config, facts) => injectPod(request, config, facts, { newToken: () => TOKEN }),
    namespaceAnnotations: async () => namespaceAnnotations,
  });
  const payload = reviewText({ ...fields, object });
  const httpResponse = await app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
  if (httpResponse.statusCode !== 200) throw new Error(`${httpResponse.statusCode}: ${httpResponse.body}`);
  const { response } = httpResponse.json();
  if (response.allowed !== true) throw new Error(`refused: ${JSON.stringify(response.status)}`);
  const operations = JSON.parse(Buffer.from(response.patch ?? btoa("[]"), "base64").toString());
  return jsonPatch.applyPatch(structuredClone(object), operations, true).newDocument;
}
