/** Tests manifests and reviews of other projects, from a folder outside of the repository. */
import { describe, expect, test } from "vitest";
import { filesIn, isReadable, requestIn } from "./folder.ts";
import { foreignFolder } from "./foreign-folder.ts";
import { testManifestProperties } from "./manifest-properties.ts";
import { testReviewProperties } from "./review-properties.ts";
import { throughCommandLine } from "./webhook-and-cli.ts";

const files = filesIn(foreignFolder() ?? "");
const readable = files.filter(isReadable);
const reviews = readable.filter((file) => requestIn(file) !== undefined);

test("the folder of third-party manifests is not empty", () => {
  expect(readable).not.toEqual([]);
});

describe("a third-party manifest", () => {
  testManifestProperties(readable.filter((file) => !reviews.includes(file)));

  test.for(files.filter((file) => !isReadable(file)))(
    "that is not valid YAML is only reported as an error: $name",
    async (file) => {
      const { status, out, err } = await throughCommandLine(file.text);
      expect({ status, out }).toEqual({ status: 1, out: "" });
      expect(err).toMatch(/^error: /);
    },
  );
});

describe("a third-party review", () => {
  testReviewProperties(reviews);
});
