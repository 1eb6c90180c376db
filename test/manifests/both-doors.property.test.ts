/** Generated Pods, so that no door knows a sort of Pod that the other does not. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { write } from "../cli/handwriting.ts";
import { arbitraryPod } from "../injection/arbitrary-pod.ts";
import { throughCommandLine, throughWebhook } from "./both-doors.ts";
import { documentsOf } from "./folder.ts";
import { untouchable } from "./untouchable.ts";

const whims = fc.array(fc.nat(99), { minLength: 20, maxLength: 60 });

test("any Pod comes out the same through both doors, with nothing changed that no injection may touch", {
  timeout: 300_000,
}, async () => {
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryPod, whims, async (generated, ofHand) => {
      // As it is in a manifest: a value that no text can hold is none.
      const pod = JSON.parse(JSON.stringify(generated)) as object;
      const expected = await throughWebhook(pod, { namespace: "default" });
      const manifest = write(pod, { step: 2, dashesIn: true, eol: "\n", lastEol: true, whims: ofHand });
      for (const text of [JSON.stringify(pod), manifest]) {
        const { out, err } = await throughCommandLine(text);
        expect(documentsOf(out), err).toEqual([expected]);
      }
      expect(untouchable(expected)).toEqual(untouchable(pod));
      if (!isDeepStrictEqual(expected, pod)) changed += 1;
    }),
    { numRuns: 80 },
  );
  expect(changed).toBeGreaterThan(24);
});
