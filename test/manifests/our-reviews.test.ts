/** Admission reviews in the shapes that API servers send and other webhooks keep. */
import { expect, test } from "vitest";
import { throughWebhook } from "./both-doors.ts";
import { filesBelow, OUR_REVIEWS } from "./folder.ts";
import { holdLawsOfReviews, reviewed } from "./review-laws.ts";

const files = filesBelow(OUR_REVIEWS);

holdLawsOfReviews(files);

test("what is no Pod, or one without containers, is left alone; the others get a manager", async () => {
  const without: string[] = [];
  for (const file of files) {
    const { object, namespace } = reviewed(file);
    const after = await throughWebhook(object, { namespace });
    if (!JSON.stringify(after).includes('"name":"lastcall"')) without.push(file.name);
  }
  expect(without).toEqual(["cron-job.json", "no-containers.yaml"]);
});
