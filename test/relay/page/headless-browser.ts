/** Debian's Chromium, one start per look; no package drives it. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const PROGRAM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) =>
  existsSync(file),
);

/** Empty where there is one; where there is none, what is not tested and what would help. */
export const NO_BROWSER =
  PROGRAM === undefined ? "the admin page is not opened in a browser: the host lacks chromium" : "";

export type Look = {
  /** The document as it stands after it was loaded. */
  readonly dom: string;
  readonly screenshot: Buffer;
};

export async function lookAt(url: string, scheme: "light" | "dark"): Promise<Look> {
  const folder = await mkdtemp(join(tmpdir(), "lastcall-browser-"));
  const picture = join(folder, "look.png");
  try {
    const { stdout } = await promisify(execFile)(
      PROGRAM ?? "",
      [
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-breakpad",
        "--no-first-run",
        // Only pages of this repository are opened, and the sandbox does not start for root or in a container.
        "--no-sandbox",
        `--user-data-dir=${join(folder, "profile")}`,
        "--window-size=1200,1400",
        `--blink-settings=preferredColorScheme=${scheme === "dark" ? 0 : 1}`,
        `--screenshot=${picture}`,
        "--dump-dom",
        url,
      ],
      // Whatever it writes goes with the folder.
      {
        env: { ...process.env, HOME: folder, TMPDIR: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder },
        timeout: 90_000,
        killSignal: "SIGKILL",
        maxBuffer: 16 * 1024 * 1024,
      },
    );
    return { dom: stdout, screenshot: await readFile(picture) };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
