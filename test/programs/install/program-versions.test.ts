import { describe, expect, test } from "vitest";
import { upstreamVersion } from "./debian-program.ts";
import { PROGRAMS } from "./program-table.ts";

describe("the version of a program from Debian", () => {
  test.for([
    ["1.22.1-9+deb12u11", "1.22.1"],
    ["2.4.71-1~deb12u1", "2.4.71"],
    ["6.0.17+ds-1", "6.0.17"],
    ["1:2.6.2", "2.6.2"],
  ])("with the package version %s is %s", ([debian, upstream]) => {
    expect(upstreamVersion(debian ?? "")).toBe(upstream);
  });
});

test("every program of PyPI pins one exact version of each package", () => {
  for (const source of Object.values(PROGRAMS)) {
    if (source.from !== "pypi") continue;
    const names = source.packages.map((spec) => spec.split("==")[0]);
    expect(new Set(names).size).toBe(names.length);
    for (const spec of source.packages) expect(spec).toMatch(/^[a-z0-9-]+==[0-9][0-9a-z.]*$/);
  }
});
