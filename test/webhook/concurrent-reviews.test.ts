import { expect, test } from "vitest";
import { PATCHED } from "./chosen-outcomes.ts";
import { JSON_HEADERS, reviewText } from "./pod-review.ts";
import { createServerUnderTest, samplesOf, sumOf } from "./server-under-test.ts";

const UIDS = Array.from({ length: 20 }, (_, index) => `uid-${index}`);

test("each of many concurrent reviews gets its own response, count and log line", async () => {
  const server = createServerUnderTest({
    inject: (request) => {
      if (JSON.stringify(request.pod).includes("uid-7")) throw new Error("the injector broke");
      return PATCHED;
    },
  });
  const replies = await Promise.all(
    UIDS.map((uid) => {
      const payload = reviewText({ uid, object: { metadata: { name: `pod-of-${uid}.` } } });
      return server.app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
    }),
  );
  expect(replies.map((reply) => reply.statusCode)).toEqual(UIDS.map((uid) => (uid === "uid-7" ? 500 : 200)));
  const uids = replies.flatMap((reply) => (reply.statusCode === 200 ? [reply.json().response.uid] : []));
  expect(uids).toEqual(UIDS.filter((uid) => uid !== "uid-7"));
  expect(server.lines().map((line) => line["uid"])).toEqual(UIDS);
  expect(sumOf(samplesOf(await server.metrics(), "lastcall_admissions_total"))).toBe(UIDS.length);
});
