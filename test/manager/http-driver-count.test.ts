import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseActiveCount } from "../../src/manager/drivers/http/http-driver.ts";
import { parseHttpTarget } from "../../src/manager/http/http-target.ts";

const PAGE = `# HELP http_active Active requests.
# TYPE http_active gauge
http_active{route="/a",code="2\\"x"} 3
http_active{route="/b"} 4 1700000000000
http_active_total 99
no_labels 7
broken{route="/a" 5
odd NaN
`;

describe("the count of active requests", () => {
  test.for([
    { says: "a plain number", body: "12\n", selector: "", count: 12 },
    { says: "zero", body: "0", selector: "", count: 0 },
    { says: "a fraction, rounded up", body: "0.5", selector: "", count: 1 },
    { says: "an exponent", body: "1e2", selector: "", count: 100 },
    { says: "a JSON pointer", body: '{"a":{"b":[5,6]}}', selector: "/a/b/1", count: 6 },
    { says: "a pointer with escapes", body: '{"a/b":{"c~d":2}}', selector: "/a~1b/c~0d", count: 2 },
    { says: "a number in a string", body: '{"n":"3"}', selector: "/n", count: 3 },
    { says: "an empty key", body: '{"":4}', selector: "/", count: 4 },
    { says: "a sample", body: PAGE, selector: "no_labels", count: 7 },
    { says: "a sample with a label", body: PAGE, selector: 'http_active{route="/b"}', count: 4 },
    { says: "a label with an escaped quote", body: PAGE, selector: 'http_active{code="2\\"x"}', count: 3 },
    { says: "the sum of all that fit", body: PAGE, selector: "http_active", count: 7 },
  ])("is read from $says", ({ body, selector, count }) => {
    expect(parseActiveCount(body, selector)).toBe(count);
  });

  test.for([
    { says: "an empty answer", body: "", selector: "" },
    { says: "words", body: "none", selector: "" },
    { says: "a number with words", body: "3 active", selector: "" },
    { says: "a negative number", body: "-1", selector: "" },
    { says: "infinity", body: "Infinity", selector: "" },
    { says: "hexadecimal", body: "0x0", selector: "" },
    { says: "a page of HTML", body: "<html>0</html>", selector: "" },
    { says: "broken JSON", body: '{"a":', selector: "/a" },
    { says: "a missing key", body: '{"a":0}', selector: "/b" },
    { says: "a key of every object", body: "{}", selector: "/constructor/length" },
    { says: "the prototype", body: "{}", selector: "/__proto__" },
    { says: "null", body: '{"a":null}', selector: "/a" },
    { says: "true", body: '{"a":true}', selector: "/a" },
    { says: "an empty list", body: '{"a":[]}', selector: "/a" },
    { says: "an index out of range", body: "[0]", selector: "/1" },
    { says: "an index with a leading zero", body: "[0,0]", selector: "/01" },
    { says: "JSON nested too deep", body: `${"[".repeat(65)}0${"]".repeat(65)}`, selector: `${"/0".repeat(65)}` },
    { says: "a sample that is not there", body: PAGE, selector: "http" },
    { says: "a label that is not there", body: PAGE, selector: 'http_active{route="/c"}' },
    { says: "a sample that is no number", body: PAGE, selector: "odd" },
    { says: "a broken sample", body: PAGE, selector: "broken" },
    { says: "a broken selector", body: PAGE, selector: 'http_active{route="/a"' },
    { says: "an answer that was no page of metrics", body: "0", selector: "http_active" },
  ])("is unknown for $says", ({ body, selector }) => {
    expect(parseActiveCount(body, selector)).toBe(-1);
  });

  test("reads JSON nested up to the limit, and brackets in strings as text", () => {
    expect(parseActiveCount(`${"[".repeat(64)}0${"]".repeat(64)}`, "/0".repeat(64))).toBe(0);
    expect(parseActiveCount(JSON.stringify({ a: `${"[".repeat(200)}"`, n: 0 }), "/n")).toBe(0);
  });

  test("is a whole number or -1 and never throws, whatever the app answers", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((s) => PAGE + s),
        ),
        fc.oneof(
          fc.constant(""),
          fc.string().map((s) => `/${s}`),
          fc.string(),
          fc.constant("http_active"),
        ),
        (body, selector) => {
          const count = parseActiveCount(body, selector);
          return Number.isFinite(count) && count >= -1 && Math.ceil(count) === count;
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("a URL", () => {
  test("is taken apart", () => {
    expect(parseHttpTarget('http://127.0.0.1:81/a?b=c#x{y="%2F"}')).toEqual({
      host: "127.0.0.1",
      port: 81,
      path: "/a?b=c",
      selector: 'x{y="/"}',
    });
    expect(parseHttpTarget("http://[::1]")).toEqual({ host: "::1", port: 80, path: "/", selector: "" });
    expect(parseHttpTarget("http://10.0.0.1?q#/n")).toEqual({
      host: "10.0.0.1",
      port: 80,
      path: "/?q",
      selector: "/n",
    });
  });

  test.for([
    "",
    "https://127.0.0.1/",
    "http://localhost/",
    "http://127.0.0.1:0/",
    "http://127.0.0.1:70000/",
    "http://1.2.3.4/a b",
    "http://1.2.3.4/\r\nX: y",
    "http://1.2.3.4/#%zz",
  ])("is refused: %j", (url) => {
    expect(parseHttpTarget(url)).toBeUndefined();
  });
});
