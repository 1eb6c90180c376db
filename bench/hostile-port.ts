/**
 * `npm run bench:hostile-port [-- --manager=BINARY] [--node] [--only=WORDS]`: strangers at the manager's port, beside a
 * control without them. Without --manager it takes the native build in build/native; --only takes scenes with these words
 * in their titles.
 */
import { openCgroup, whyNoCgroup } from "../test/manager/in-cgroup.ts";
import { networkRefusal, QUIET, runScene, sceneText } from "../test/manager/port-attack/run-scene.ts";

const binary = process.argv.find((word) => word.startsWith("--manager="))?.slice("--manager=".length);
const onNode = process.argv.includes("--node");
const NODE = [process.execPath, new URL("../test/manager/compiled-once.mjs", import.meta.url).pathname];
const manager = onNode ? NODE : [binary ?? new URL("../build/native/lastcall", import.meta.url).pathname];

const refusal = networkRefusal();
if (refusal !== "") {
  process.stderr.write(`this host makes no network of one's own: ${refusal}\n`);
  process.exit(1);
}
const SCENES = [
  { title: "2000 silent from 1 address", strangers: "silent", amount: 2_000, addresses: 1 },
  { title: "2000 silent from 200 addresses", strangers: "silent", amount: 2_000, addresses: 200 },
  { title: "2000 a second from 200 addresses", strangers: "churn", amount: 2_000, addresses: 200 },
] as const;
const only = process.argv.find((word) => word.startsWith("--only="))?.slice("--only=".length) ?? "";
const say = (line: string): void => void process.stdout.write(`${line}\n`);
say(`manager: ${manager.join(" ")}`);
say(sceneText("control", await runScene({ manager, ...QUIET })));
for (const { title, ...scene } of SCENES)
  if (title.includes(only)) say(sceneText(title, await runScene({ manager, wrapper: [], ...scene })));
const TEN_M = { milliCpu: 10 };
const noCgroup = whyNoCgroup(TEN_M);
if (onNode) say("10m of CPU: left out, it is tried with the native build only");
else if (noCgroup !== "") say(`10m of CPU: left out: ${noCgroup}`);
else {
  const cgroup = openCgroup(TEN_M);
  const { wrapper } = cgroup;
  const starved = [
    { title: "10m of CPU, no strangers", ...QUIET },
    { title: "10m of CPU, 500 a second", strangers: "churn", amount: 500, addresses: 200 },
    { title: "10m of CPU, 2000 silent", strangers: "silent", amount: 2_000, addresses: 1 },
  ] as const;
  for (const { title, ...scene } of starved)
    if (title.includes(only)) say(sceneText(title, await runScene({ manager, ...scene, wrapper })));
  await cgroup.close();
}
