/** Opens a page in Debian's Chromium, one process per page, without a driver package. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const BROWSER_PROGRAM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) =>
  existsSync(file),
);

/** The reason for skipping the tests; empty if a browser is installed. */
export const BROWSER_SKIP_REASON =
  BROWSER_PROGRAM === undefined ? "the admin page is not opened in a browser: the host lacks chromium" : "";

export type OpenedPage = {
  /** The markup of the loaded document. */
  readonly dom: string;
  readonly screenshot: Buffer;
};

function browserFlagsOf(folder: string): readonly string[] {
  return [
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-breakpad",
    "--no-first-run",
    // Chromium's sandbox does not start for root or in a container; only pages of this repository are opened.
    "--no-sandbox",
    `--user-data-dir=${join(folder, "profile")}`,
  ];
}

/** Makes the browser write all its files into this folder. */
function browserEnvironmentOf(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder };
}

/** Evaluates an expression in a page of this width. Emulates a phone, because a desktop window has a minimum width. */
export async function evaluateAt(url: string, width: number, expression: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "lastcall-browser-"));
  const args = [...browserFlagsOf(folder), "--remote-debugging-port=0", "about:blank"];
  const browser = spawn(BROWSER_PROGRAM ?? "", args, {
    env: browserEnvironmentOf(folder),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(browser, "exit");
  try {
    let text = "";
    let address: string | undefined;
    for await (const chunk of browser.stderr) {
      text += String(chunk);
      address = /ws:\/\/(\S+?)\/devtools/.exec(text)?.[1];
      if (address !== undefined) break;
    }
    const targets = (await (await fetch(`http://${address}/json/list`)).json()) as readonly Target[];
    const socket = new WebSocket(targets.find(({ type }) => type === "page")?.webSocketDebuggerUrl ?? "");
    await once(socket, "open");
    let lastId = 0;
    const send = (method: string, params: object = {}): Promise<Record<string, unknown>> => {
      lastId += 1;
      const id = lastId;
      socket.send(JSON.stringify({ id, method, params }));
      return waitForMessage(socket, (message) => message["id"] === id);
    };
    await send("Page.enable");
    await send("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: true });
    const loaded = waitForMessage(socket, ({ method }) => method === "Page.loadEventFired");
    await send("Page.navigate", { url });
    await loaded;
    const response = await send("Runtime.evaluate", { expression, returnByValue: true });
    return (response as { result: { result: { value: unknown } } }).result.result.value;
  } finally {
    browser.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Target = { readonly type: string; readonly webSocketDebuggerUrl: string };

/** Resolves with the first message that matches. */
function waitForMessage(
  socket: WebSocket,
  isExpected: (message: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    const read = ({ data }: MessageEvent): void => {
      const message = JSON.parse(String(data)) as Record<string, unknown>;
      if (!isExpected(message)) return;
      socket.removeEventListener("message", read);
      resolve(message);
    };
    socket.addEventListener("message", read);
  });
}

export async function openPage(url: string, scheme: "light" | "dark"): Promise<OpenedPage> {
  const folder = await mkdtemp(join(tmpdir(), "lastcall-browser-"));
  const screenshotFile = join(folder, "page.png");
  try {
    const { stdout } = await promisify(execFile)(
      BROWSER_PROGRAM ?? "",
      [
        ...browserFlagsOf(folder),
        "--window-size=1200,1400",
        `--blink-settings=preferredColorScheme=${scheme === "dark" ? 0 : 1}`,
        `--screenshot=${screenshotFile}`,
        "--dump-dom",
        url,
      ],
      {
        env: browserEnvironmentOf(folder),
        timeout: 90_000,
        killSignal: "SIGKILL",
        maxBuffer: 16 * 1024 * 1024,
      },
    );
    return { dom: stdout, screenshot: await readFile(screenshotFile) };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
