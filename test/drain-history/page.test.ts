import fc from "fast-check";
import { expect, test } from "vitest";
import { drainListPage, drainPage } from "../../src/drain-history/page/drain-page.ts";
import { anyDrain } from "./any-drain.ts";
import { listElements } from "./elements-of.ts";
import { CLIENT, runningReport, someDrain, someReport } from "./some-drain.ts";

const LIST_ELEMENTS = ["!doctype", "html", "head", "meta", "title", "style", "body", "h1", "p", "a", "table"];
const ROW_ELEMENTS = ["thead", "tbody", "tr", "th", "td"];
const PICTURE_ELEMENTS = ["svg", "rect", "text", "line"];

function findLinks(page: string): readonly string[] {
  return [...page.matchAll(/href="([^"]*)"/g)].map(([, address = ""]) => address);
}

test("the HTML list of drains has links to each drain that are relative to the page", () => {
  const page = drainListPage({ drains: [someDrain()], instance: "web-1", namespace: undefined });
  const base = "http://api/api/v1/namespaces/lastcall/pods/web-1:8081/proxy/";
  expect(findLinks(page).map((address) => new URL(address, base).href)).toEqual([
    `${base}?namespace=shop`,
    `${base}drains/0123456789abcdef`,
  ]);
  for (const expectedText of [
    "2026-11-18 11:06:40 UTC",
    "web-7d9f-abcde",
    "ReplicaSet web-7d9f",
    "drained",
    "7.3s",
    "replica web-1",
  ]) {
    expect(page).toContain(expectedText);
  }
});

test("the HTML page of a drain has links to the list of all drains, to the list of its namespace and to the SVG", () => {
  const base = "http://api/proxy/drains/0123456789abcdef";
  expect(findLinks(drainPage(someDrain())).map((address) => new URL(address, base).href)).toEqual([
    "http://api/proxy/",
    "http://api/proxy/?namespace=shop",
    "http://api/proxy/drains/0123456789abcdef.svg",
  ]);
});

test("the HTML list of a namespace has a link to all drains, and an empty list has a message", () => {
  const page = drainListPage({ drains: [], instance: "web-1", namespace: "shop" });
  expect(page).toContain("Recent drains in shop");
  expect(page).toContain("No drains recorded yet.");
  expect(findLinks(page)).toEqual(["./"]);
});

test("the HTML page of a drain has the open connections and the total", () => {
  const page = drainPage(someDrain({ report: someReport({ left: [CLIENT], leftTotal: 27 }) }));
  expect(page).toContain("Connections still open at the end of draining: 27, 1 shown.");
  expect(page).toMatch(/>10\.0\.0\.9:41822<\/td><td[^>]*>10\.0\.0\.5:8080<\/td><td[^>]*>ESTABLISHED<\/td>/);
});

test("the pages show a running drain by its phase, with its deadline and the clients that it waits for", () => {
  const record = someDrain({ report: runningReport() });
  const list = drainListPage({ drains: [record], instance: "web-1", namespace: undefined });
  for (const expectedText of [">draining</td>", ">10s</td>", "for at most 55s more"])
    expect(list).toContain(expectedText);
  const page = drainPage(record);
  expect(page).toMatch(/>last report<\/td><td[^>]*>2026-11-18 11:06:40 UTC</);
  expect(page).toMatch(/>time until its deadline<\/td><td[^>]*>55s</);
  expect(page).toContain("Connections still open at the last report: 1.");
});

test("the HTML page of a drain has the relay's status", () => {
  const page = (relay: string): string => drainPage(someDrain({ report: someReport({ relay }) }));
  expect(page("withdrawn")).toContain(">no EndpointSlice had the Pod as a ready endpoint</td>");
  expect(page("unknown: <b>")).toContain(">unknown: &lt;b&gt;</td>");
});

test("HTML pages of any drains are well formed, with known elements only and no external links", () => {
  fc.assert(
    fc.property(fc.array(anyDrain, { minLength: 1, maxLength: 3 }), fc.string(), (drains, instance) => {
      const list = drainListPage({ drains, instance, namespace: undefined });
      const pages = [list, ...drains.map(drainPage)];
      for (const page of pages) {
        const known = new Set([...LIST_ELEMENTS, ...ROW_ELEMENTS, ...PICTURE_ELEMENTS]);
        expect(listElements(page).filter((name) => !known.has(name))).toEqual([]);
        expect(findLinks(page).every((address) => /^(\.\.?\/|drains\/|[^/:]*\.svg$)/.test(address))).toBe(true);
        expect(page).not.toMatch(/ on[a-z]+="|src="/);
      }
    }),
  );
});
