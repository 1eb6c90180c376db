import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseActiveCount } from "../../src/manager/drivers/http/http-driver.ts";
import { parseHttpTarget } from "../../src/manager/http/http-target.ts";

const METRICS = `# HELP http_active Active requests.
# TYPE http_active gauge
http_active{route="/a",code="2\\"x"} 3
http_active{route="/b"} 4 1700000000000
http_active_total 99
no_labels 7
broken{route="/a" 5
odd NaN
`;

describe("the count of active requests in an app's response", () => {
  test.for([
    { title: "a plain number", body: "12\n", selector: "", count: 12 },
    { title: "zero", body: "0", selector: "", count: 0 },
    { title: "a fraction, rounded up", body: "0.5", selector: "", count: 1 },
    { title: "an exponent", body: "1e2", selector: "", count: 100 },
    { title: "a JSON pointer", body: '{"a":{"b":[5,6]}}', selector: "/a/b/1", count: 6 },
    { title: "a pointer with escapes", body: '{"a/b":{"c~d":2}}', selector: "/a~1b/c~0d", count: 2 },
    { title: "a number in a string", body: '{"n":"3"}', selector: "/n", count: 3 },
    { title: "an empty key", body: '{"":4}', selector: "/", count: 4 },
    { title: "a metric", body: METRICS, selector: "no_labels", count: 7 },
    { title: "a metric with a label", body: METRICS, selector: 'http_active{route="/b"}', count: 4 },
    {
      title: "a metric whose label has an escaped quote",
      body: METRICS,
      selector: 'http_active{code="2\\"x"}',
      count: 3,
    },
    { title: "the sum of all matching metrics", body: METRICS, selector: "http_active", count: 7 },
  ])("is read from $title", ({ body, selector, count }) => {
    expect(parseActiveCount(body, selector)).toBe(count);
  });

  test.for([
    { title: "an empty response", body: "", selector: "" },
    { title: "a text without a number", body: "none", selector: "" },
    { title: "a number and text", body: "3 active", selector: "" },
    { title: "a negative number", body: "-1", selector: "" },
    { title: "infinity", body: "Infinity", selector: "" },
    { title: "a hexadecimal number", body: "0x0", selector: "" },
    { title: "a page of HTML", body: "<html>0</html>", selector: "" },
    { title: "invalid JSON", body: '{"a":', selector: "/a" },
    { title: "a missing key", body: '{"a":0}', selector: "/b" },
    { title: "an inherited key", body: "{}", selector: "/constructor/length" },
    { title: "the prototype of an object", body: "{}", selector: "/__proto__" },
    { title: "the value null", body: '{"a":null}', selector: "/a" },
    { title: "the value true", body: '{"a":true}', selector: "/a" },
    { title: "an empty list", body: '{"a":[]}', selector: "/a" },
    { title: "an index out of range", body: "[0]", selector: "/1" },
    { title: "an index with a leading zero", body: "[0,0]", selector: "/01" },
    { title: "JSON nested too deeply", body: `${"[".repeat(65)}0${"]".repeat(65)}`, selector: `${"/0".repeat(65)}` },
    { title: "an absent metric", body: METRICS, selector: "http" },
    { title: "an absent label", body: METRICS, selector: 'http_active{route="/c"}' },
    { title: "a metric that is not a number", body: METRICS, selector: "odd" },
    { title: "an invalid line of a metric", body: METRICS, selector: "broken" },
    { title: "an invalid selector", body: METRICS, selector: 'http_active{route="/a"' },
    { title: "a response without metrics", body: "0", selector: "http_active" },
  ])("is unknown for $title", ({ body, selector }) => {
    expect(parseActiveCount(body, selector)).toBe(-1);
  });

  test("is read from JSON nested up to the limit, and from JSON with brackets in strings", () => {
    expect(parseActiveCount(`${"[".repeat(64)}0${"]".repeat(64)}`, "/0".repeat(64))).toBe(0);
    expect(parseActiveCount(JSON.stringify({ a: `${"[".repeat(200)}"`, n: 0 }), "/n")).toBe(0);
  });

  test("is an integer or -1 for arbitrary responses", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((s) => METRICS + s),
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

describe("a URL of the http driver", () => {
  test("is divided into address, port and path", () => {
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
