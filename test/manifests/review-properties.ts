/** Tests properties that apply to every admission review. */
import { expect, test } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { objectAt, type RawObject, textAt } from "../../src/kubernetes/raw-json.ts";
import { requestIn, type TextFile } from "./folder.ts";
import { throughCommandLine, throughWebhook } from "./webhook-and-cli.ts";

export function testReviewProperties(files: readonly TextFile[]): void {
  test.for(files)(
    "is patched once, not changed by a second review, and restored by an uninjection: $name",
    async (file) => {
      const { object, namespace } = podOfReview(file);
      const first = await throughWebhook(object, { namespace });
      expect(await throughWebhook(first, { namespace })).toStrictEqual(first);
      const uninjection = uninjectPod(first as RawObject);
      expect(uninjection.kind === "uninjected" ? uninjection.pod : first).toStrictEqual(object);
    },
  );

  const podReviews = files.filter((file) => textAt(podOfReview(file).object, "kind") === "Pod");
  test.for(podReviews)("has the same injected Pod from the webhook and the command line: $name", async (file) => {
    const { object, namespace } = podOfReview(file);
    // A Pod inside a review may omit its apiVersion; a manifest may not.
    const manifest = { apiVersion: "v1", ...object };
    const { out } = await throughCommandLine(JSON.stringify(manifest));
    expect(JSON.parse(out)).toEqual({ apiVersion: "v1", ...((await throughWebhook(object, { namespace })) as object) });
  });
}

export function podOfReview(file: TextFile): { readonly object: RawObject; readonly namespace: string } {
  const object = objectAt(requestIn(file), "object");
  if (object === undefined) throw new Error(`${file.name} is not a review`);
  return { object, namespace: textAt(objectAt(object, "metadata"), "namespace") ?? "default" };
}
