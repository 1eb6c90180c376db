/** Tests admission reviews in the forms that API servers send and other webhooks record. */
import { expect, test } from "vitest";
import { filesIn, OUR_REVIEWS } from "./folder.ts";
import { podOfReview, testReviewProperties } from "./review-properties.ts";
import { throughWebhook } from "./webhook-and-cli.ts";

const files = filesIn(OUR_REVIEWS);

testReviewProperties(files);

test("a review without a Pod or containers is skipped, and the Pod of every other review gets a manager", async () => {
  const filesWithoutManager: string[] = [];
  for (const file of files) {
    const { object, namespace } = podOfReview(file);
    const after = await throughWebhook(object, { namespace });
    if (!JSON.stringify(after).includes('"name":"lastcall"')) filesWithoutManager.push(file.name);
  }
  expect(filesWithoutManager).toEqual(["cron-job.json", "no-containers.yaml"]);
});
