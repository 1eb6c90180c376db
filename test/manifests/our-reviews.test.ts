/** Admission reviews in the forms that API servers send and other webhooks record. */
import { expect, test } from "vitest";
import { filesBelow, OUR_REVIEWS } from "./folder.ts";
import { holdPropertiesOfReviews, reviewed } from "./review-properties.ts";
import { throughWebhook } from "./webhook-and-cli.ts";

const files = filesBelow(OUR_REVIEWS);

holdPropertiesOfReviews(files);

test("a review without a Pod or containers is skipped, and every other one adds a manager", async () => {
  const without: string[] = [];
  for (const file of files) {
    const { object, namespace } = reviewed(file);
    const after = await throughWebhook(object, { namespace });
    if (!JSON.stringify(after).includes('"name":"lastcall"')) without.push(file.name);
  }
  expect(without).toEqual(["cron-job.json", "no-containers.yaml"]);
});
