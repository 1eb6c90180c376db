/** Manifests and reviews as other projects wrote them, from a folder outside of this one. */
import { describe, expect, test } from "vitest";
import { throughCommandLine } from "./both-doors.ts";
import { filesBelow, isReadable, requestIn } from "./folder.ts";
import { foreignFolder } from "./foreign-folder.ts";
import { holdLawsOfManifests } from "./manifest-laws.ts";
import { holdLawsOfReviews } from "./review-laws.ts";

const files = filesBelow(foreignFolder() ?? "");
const readable = files.filter(isReadable);
const reviews = readable.filter((file) => requestIn(file) !== undefined);

test("there is something to read", () => {
  expect(readable).not.toEqual([]);
});

describe("a foreign manifest", () => {
  holdLawsOfManifests(readable.filter((file) => !reviews.includes(file)));

  test.for(files.filter((file) => !isReadable(file)))(
    "$name is no YAML, which is said and nothing else",
    async (file) => {
      const { status, out, err } = await throughCommandLine(file.text);
      expect({ status, out }).toEqual({ status: 1, out: "" });
      expect(err).toMatch(/^error: /);
    },
  );
});

describe("a foreign review", () => {
  holdLawsOfReviews(reviews);
});
