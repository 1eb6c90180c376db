import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDrainRing } from "../../../src/relay/drains/drain-ring.ts";
import { type OpenAdmin, openAdmin } from "../../../src/relay/page/admin-server.ts";
import { CLIENT, someDrain, someReport } from "../../drain-history/some-drain.ts";
import { BROWSER_SKIP_REASON, evaluateAt, openPage } from "./headless-browser.ts";
import { countColours } from "./png-pixels.ts";

if (BROWSER_SKIP_REASON !== "") {
  if (process.env["CI"] !== undefined) throw new Error(BROWSER_SKIP_REASON);
  process.stdout.write(`${BROWSER_SKIP_REASON}\n`);
}

/** The path under which the API server proxies the page of a Pod. */
const PROXY_PATH = "/api/v1/namespaces/lastcall/pods/http:web-1:8081/proxy";

/** Markup in a report, which pages must escape. */
const MARKUP = `</text></svg><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`;

const report = someReport({
  outcome: "timeout",
  milliseconds: { withdrawing: 5_000, deregistration: 10_000, draining: 45_000, holding: 2_000 },
  left: [CLIENT, { ...CLIENT, ageMs: 4_000, state: MARKUP }],
  leftTotal: 27,
  why: MARKUP,
});

describe.skipIf(BROWSER_SKIP_REASON !== "")("in a real browser", { timeout: 120_000 }, () => {
  const requestedUrls: string[] = [];
  let admin: OpenAdmin;
  let proxy: Server;
  let base = "";

  beforeAll(async () => {
    const drains = createDrainRing(10, () => 0);
    drains.add(someDrain({ id: "plain", uid: "a", endedAtMs: 1_795_000_001_000 }));
    drains.add(someDrain({ id: "evil", uid: "b", pod: MARKUP, ownerName: MARKUP, report }));
    admin = await openAdmin({ drains, instance: "web-1" }, 0);
    proxy = createServer((incoming, outgoing) => {
      const url = incoming.url ?? "";
      requestedUrls.push(url);
      if (!url.startsWith(`${PROXY_PATH}/`)) {
        outgoing.writeHead(404).end();
        return;
      }
      const path = url.slice(PROXY_PATH.length);
      request({ port: admin.port, path }, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      }).end();
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => proxy.once("listening", resolve));
    base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PROXY_PATH}/`;
  });

  afterAll(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
    await admin.close();
  });

  test("the list of drains loads behind a proxy, and its links lead to a drain's page and picture", async () => {
    const list = await openPage(base, "light");
    expect(list.dom).toContain("<title>Recent drains</title>");
    expect(list.dom).toContain("web-7d9f-abcde");
    const [, address = ""] = /href="(drains\/evil)"/.exec(list.dom) ?? [];
    const drain = await openPage(new URL(address, base).href, "light");
    expect(drain.dom).toContain("observed for 52.3s");

    const colours = countColours(drain.screenshot);
    // The picture covers 62 s. A phase of ten seconds is a bar of about 100 × 20 pixels, and all bars have the same scale.
    expect(colours.get("#ae3ec9") ?? 0).toBeGreaterThan(1_200);
    expect(colours.get("#f08c00") ?? 0).toBeGreaterThan(600);
    expect(colours.get("#4c6ef5") ?? 0).toBeGreaterThan(5 * (colours.get("#f08c00") ?? 0));
    expect(colours.get("#2b8a3e") ?? 0).toBeGreaterThan(5_000);

    // Markup in the report is escaped on both pages, and the pages do not load other URLs.
    for (const { dom } of [list, drain]) {
      expect(dom).not.toMatch(/<script|<img|<title>owned/);
      expect(dom).toContain("&lt;script&gt;");
    }
    const pageUrls = requestedUrls.filter((url) => !url.endsWith("/favicon.ico"));
    expect(new Set(pageUrls)).toEqual(new Set([`${PROXY_PATH}/`, `${PROXY_PATH}/drains/evil`]));
  });

  test("the picture of a drain, opened alone, follows the browser's dark colour scheme", async () => {
    const { screenshot, dom } = await openPage(`${base}drains/plain.svg`, "dark");
    expect(dom).toContain("Drain of Pod shop/web-7d9f-abcde");
    const colours = countColours(screenshot);
    expect(colours.get("#16181c") ?? 0).toBeGreaterThan(100_000);
    expect(colours.get("#ffc078") ?? 0).toBeGreaterThan(5_000);
    expect(colours.get("#f08c00")).toBeUndefined();
  });

  test.for(["", "drains/plain"])("the page at /%s fits a screen with a width of 360 pixels", async (path) => {
    const widestElement = `Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll("body *")]
      .map((one) => Math.ceil(one.getBoundingClientRect().right)))`;
    expect(await evaluateAt(`${base}${path}`, 360, widestElement)).toBeLessThanOrEqual(360);
  });

  test("a narrow screen shows the reason for a drain's duration under the column's name", async () => {
    const lastCells = `[...document.querySelectorAll("td:last-child")].map((one) => {
      const { left, width, height } = one.getBoundingClientRect();
      return { shown: left >= 0 && width > 200 && height > 0, name: getComputedStyle(one, "::before").content };
    })`;
    const why = { shown: true, name: `"why: "` };
    expect(await evaluateAt(base, 360, lastCells)).toEqual([why, why]);
  });

  test("every table heading has the scope `col`", async () => {
    const scopes = `[...document.querySelectorAll("th")].map((one) => one.scope)`;
    expect(await evaluateAt(base, 1_200, scopes)).toEqual(Array.from({ length: 9 }, () => "col"));
  });

  test("in the picture only the end of a drain with open connections is red", async () => {
    const redTexts = `[...document.querySelectorAll("svg text")]
      .filter((one) => getComputedStyle(one).fill === "rgb(201, 42, 42)").map((one) => one.textContent)`;
    expect(await evaluateAt(`${base}drains/plain`, 1_200, redTexts)).toEqual([]);
    expect(await evaluateAt(`${base}drains/evil`, 1_200, redTexts)).toEqual([
      "60.00 s: drain ended, hooks answered, 27 connections open",
    ]);
  });
});
