/** Tests `npm run certs`, which creates a certificate for the webhook, and its CA. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type Server } from "node:tls";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { listenOnOwnPort } from "../leases/own-port.ts";

const SCRIPT = join(import.meta.dirname, "../../certs/make.ts");
const folder = mkdtempSync(join(tmpdir(), "lastcall-certs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: readonly string[]) => spawnSync(process.execPath, [SCRIPT, ...args], { encoding: "utf8" });
const read = (out: string, file: string): string => readFileSync(join(out, file), "utf8");

describe("a generated certificate", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  /** Connects as a client that trusts the CA. @returns "" or the error */
  async function connectionError(out: string, name: string, trusted: string = out): Promise<string> {
    server = createServer({ cert: read(out, "tls.crt"), key: read(out, "tls.key") }, (socket) => socket.end());
    const port = await listenOnOwnPort(server, "127.0.0.1");
    return new Promise((resolve) => {
      const ca = read(trusted, "ca.crt");
      const socket = connect({ port, host: "127.0.0.1", servername: name, ca }, () => {
        socket.destroy();
        resolve("");
      });
      socket.on("error", (error) => resolve(error.message));
    });
  }

  test("is accepted by clients with its CA only for the requested names", async () => {
    const out = join(folder, "named");
    expect(run(`--out=${out}`, "--name=lastcall.test", "--name=10.1.0.7", "--days=7")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("for lastcall.test, 10.1.0.7, valid for 7 days:"),
    });
    expect(await connectionError(out, "lastcall.test")).toBe("");
    expect(await connectionError(out, "localhost")).toContain("does not match certificate's altnames");
  });

  test("is for localhost by default, with a key that only the owner can read", async () => {
    const out = join(folder, "usual");
    expect(run(`--out=${out}`).status).toBe(0);
    expect(await connectionError(out, "localhost")).toBe("");
    const modes = readdirSync(out).map((file) => [file, (statSync(join(out, file)).mode & 0o777).toString(8)]);
    expect(Object.fromEntries(modes)).toEqual({ "ca.crt": "644", "ca.key": "600", "tls.crt": "644", "tls.key": "600" });
  });

  test("replaces an earlier certificate, CA and key, even if others could read the earlier key", async () => {
    const [out, other] = [join(folder, "again"), join(folder, "other")];
    for (const each of [out, other]) expect(run(`--out=${each}`).status).toBe(0);
    rmSync(join(out, "tls.key"));
    writeFileSync(join(out, "tls.key"), "", { mode: 0o644 });
    expect(run(`--out=${out}`).status).toBe(0);
    expect(statSync(join(out, "tls.key")).mode & 0o777).toBe(0o600);
    expect(await connectionError(out, "localhost")).toBe("");
    expect(await connectionError(out, "localhost", other)).not.toBe("");
  });
});

test.for([
  [["--name=two words"], '--name got "two words", expected a DNS name such as lastcall.example.org, or an IP address'],
  [["--days=0"], '--days got "0", expected a whole number from 1 to 825'],
  [["--days=826"], '--days got "826", expected a whole number from 1 to 825'],
  [["--for=localhost"], "Unknown option '--for'"],
] as const)("an invalid argument of the certificate generator is reported: %j", ([args, message]) => {
  expect(run(`--out=${folder}/never`, ...args)).toMatchObject({
    status: 64,
    stderr: expect.stringContaining(message),
  });
  expect(readdirSync(folder)).not.toContain("never");
});

test("an unwritable folder for the certificate is reported with its path", () => {
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  expect(run(`--out=${file}`)).toMatchObject({ status: 1, stderr: expect.stringContaining(`--out ${file}: `) });
});
