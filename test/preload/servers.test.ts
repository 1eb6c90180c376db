import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import {
  CLOSE_HEADER,
  MODE,
  openScenario,
  PORT,
  type PreloadScenario,
  withoutCloseHeader,
} from "./preload-scenario.ts";
import { hasProgram } from "./programs-here.ts";

const CONNECTIONS = 20;
const GET = "GET /f.txt HTTP/1.1\r\nHost: a\r\n\r\n";
const EXPECTING_POST = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
/** The body of every response, itself formatted as a response. */
const BODY = "HTTP/1.1 200 OK\r\n\r\n";
const CALLS = ["write", "writev", "pieces", "send", "sendmsg", "fork"];
const NODE_SERVER = join(import.meta.dirname, "servers/node-http.ts");

const ARM64_COMPILER = "aarch64-linux-gnu-gcc";
const PROGRAMS = ["gcc", "musl-gcc", "python3", "nginx", ARM64_COMPILER, "qemu-aarch64"];
const missing = PROGRAMS.filter((program) => !hasProgram(program));
for (const program of missing)
  process.stdout.write(`the preloaded library is not tested with ${program}: the host lacks it\n`);

const undated = (answer: string): string => answer.replace(/^Date: .*$/m, "Date:");

let scenario: PreloadScenario;
beforeAll(async () => {
  if (missing.includes("gcc")) return;
  scenario = await openScenario();
  writeFileSync(join(scenario.folder, "f.txt"), BODY);
});
afterEach(() => scenario.endAll());
afterAll(() => scenario.close());

type Row = { readonly name: string; readonly command: (address: string) => readonly string[]; readonly needs: string };

const CALL_SERVERS: readonly Row[] = ["gcc", "musl-gcc"].flatMap((compiler) =>
  CALLS.map((call) => ({
    name: `a server compiled by ${compiler} that responds by ${call}`,
    needs: compiler,
    command: (address: string) => [scenario.compile("servers/calls.c", compiler), address, String(PORT), call],
  })),
);
const SERVERS: readonly Row[] = [
  { name: "Node", needs: "gcc", command: (address) => [process.execPath, NODE_SERVER, address, String(PORT)] },
  { name: "Python's http.server", needs: "python3", command: pythonServer },
  { name: "nginx", needs: "nginx", command: nginx },
  ...CALL_SERVERS,
];

function pythonServer(address: string): readonly string[] {
  return ["python3", "-m", "http.server", "--protocol=HTTP/1.1", `--bind=${address}`, String(PORT)];
}

function nginx(address: string): readonly string[] {
  const { folder } = scenario;
  const http = `access_log off; sendfile on; server { listen ${address}:${PORT}; root ${folder}; }`;
  writeFileSync(
    join(folder, "nginx.conf"),
    `user root; daemon off; master_process off; error_log stderr; pid ${folder}/pid; events {} http { ${http} }`,
  );
  return ["nginx", "-p", folder, "-c", join(folder, "nginx.conf")];
}

/** Compares the responses on kept-alive connections before and during the drain. */
async function closesEachConnection(
  command: readonly string[],
  address: string,
  { openManager, start, connect }: PreloadScenario,
) {
  const manager = await openManager();
  await start(command, address);
  expect(manager.pages()).toBeGreaterThan(0);
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(address)));
  const before = await Promise.all(clients.map((client) => client.request(GET, BODY)));
  await manager.flip(MODE.close);
  const after = await Promise.all(clients.map((client) => client.request(GET, BODY)));
  expect(before.filter((answer) => answer.includes(CLOSE_HEADER))).toEqual([]);
  expect(after.filter((answer) => answer.split("\r\n")[1] !== CLOSE_HEADER.trimEnd())).toEqual([]);
  expect(after.map(withoutCloseHeader).map(undated)).toEqual(before.map(undated));
}

describe.skipIf(missing.includes("gcc"))("a server with the preloaded library", () => {
  test.for(SERVERS.filter(({ needs }) => !missing.includes(needs)))(
    "$name closes each kept-alive connection with its next response, and changes nothing else",
    ({ command }) => {
      const address = ownAddress();
      return closesEachConnection(command(address), address, scenario);
    },
  );

  test("adds the header Connection: close to the response for a request with Expect: 100-continue", async () => {
    const address = ownAddress();
    const manager = await scenario.openManager();
    await scenario.start([process.execPath, NODE_SERVER, address, String(PORT)], address);
    await manager.flip(MODE.close);
    const client = await scenario.connect(address);
    expect(await client.request(EXPECTING_POST, "\r\n\r\n")).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    expect(await client.request("ok", BODY)).toContain(CLOSE_HEADER);
  });

  test.for([
    { place: "before", sees: "the server's bytes", extra: 0 },
    { place: "after", sees: "the header too", extra: CLOSE_HEADER.length },
  ])(
    "works if another preloaded library is loaded $place it, and that library gets $sees",
    async ({ place, extra }) => {
      const address = ownAddress();
      const manager = await scenario.openManager();
      const other = scenario.compile("servers/other-library.c", "gcc", ["-shared", "-fPIC"]);
      const counted = join(scenario.folder, place);
      const libraries = place === "before" ? [other, scenario.library] : [scenario.library, other];
      const env = { LD_PRELOAD: libraries.join(":"), COUNT_FILE: counted };
      await scenario.start([scenario.compile("servers/calls.c", "gcc"), address, String(PORT), "write"], address, env);
      await manager.flip(MODE.close);
      const answer = await (await scenario.connect(address)).request(GET, BODY);
      expect(answer).toContain(CLOSE_HEADER);
      expect(Number(readFileSync(counted, "utf8"))).toBe(withoutCloseHeader(answer).length + extra);
    },
  );

  test.skipIf(missing.includes(ARM64_COMPILER) || missing.includes("qemu-aarch64"))(
    "closes each kept-alive connection with its next response on arm64",
    async () => {
      const arm64 = await openScenario({ processor: "arm64" });
      try {
        const address = ownAddress();
        const server = arm64.compile("servers/calls.c", ARM64_COMPILER);
        // qemu passes its environment to the emulated program.
        const command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", server, address, String(PORT), "write"];
        await closesEachConnection(command, address, arm64);
      } finally {
        await arm64.close();
      }
    },
  );
});
