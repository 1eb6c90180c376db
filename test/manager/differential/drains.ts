/** Scenarios of drains. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { ONE_APP, podEnds, type Scenario, SHORT } from "./scenario.ts";

export const DRAINS: readonly Scenario[] = [
  {
    title: "a Pod without traffic terminates",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP, { POD_NAME: "web-0", POD_NAMESPACE: "shop" });
      await world.status("before");
      await podEnds(world);
      await world.status("after");
      await world.hook("late hook");
      await world.drain("late own");
      await world.stop();
    },
  },
  {
    title: "the manager's own hook is an exec command",
    play: async (world) => {
      await world.app();
      // Long enough for the hook after the start of the command.
      await world.serve(["--drain-delay=4s", ...ONE_APP.slice(1)]);
      const own = world.command("own", ["drain", `--address-scope=${world.address}`]);
      await world.phase("withdrawing");
      await Promise.all([own, world.hook("hook")]);
      await world.command("status", ["status", `--address-scope=${world.address}`]);
      await world.stop("SIGINT");
    },
  },
  {
    title: "two containers restart and call their hooks",
    play: async (world) => {
      await world.app();
      await world.serve([...SHORT, "--hooks=web:app,job:app"]);
      const web = world.hook("web", "web");
      // Separate release times: with equal ones, the log may list either hook as held.
      await world.clock.wait(2_000);
      await Promise.all([web, world.hook("job", "job")]);
      await world.status("after");
    },
  },
  {
    title: "a Pod of two containers terminates and a client requests the status in each phase",
    play: async (world) => {
      await world.app();
      await world.serve([...SHORT, "--deregistration-delay=1s", "--hooks=web:app,job:app"]);
      const web = world.hook("web", "web");
      await world.clock.wait(100);
      const job = world.hook("job", "job");
      await world.clock.wait(100);
      const hooks = [web, job, world.drain("own")];
      await world.phase("withdrawing");
      await world.status("withdrawing");
      void world.visit("/?ms=4000");
      await world.phase("draining");
      await world.status("draining");
      await Promise.all(hooks);
      await world.stop();
    },
  },
  {
    title: "one container restarts and the Pod terminates later",
    play: async (world) => {
      await world.app();
      await world.serve([...SHORT, "--hooks=app:app,other:app"]);
      await world.hook("restarted");
      await world.status("between");
      await Promise.all([world.hook("other", "other"), world.drain("own")]);
      await world.stop();
    },
  },
  {
    title: "a slow request is active at the trigger",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      const visit = world.visit("/?ms=3500").then(() => world.record("visited", "whole"));
      await world.clock.wait(300);
      await Promise.all([podEnds(world), visit]);
    },
  },
  {
    title: "connections are open at the deadline",
    play: async (world) => {
      await world.app();
      await world.serve(["--drain-delay=300ms", "--quiet-period=10s", "--drain-timeout=2s", "--hooks=app:app"]);
      const visits = Array.from({ length: 5 }, () => world.visit("/?ms=60000"));
      await world.clock.wait(300);
      await podEnds(world);
      await world.status("after");
      await world.stop();
      void visits;
    },
  },
  {
    title: "drained-when is deadline",
    play: async (world) => {
      await world.app();
      await world.serve(["--drain-delay=300ms", "--drain-timeout=2s", "--drained-when=deadline", "--hooks=app:app"]);
      await podEnds(world);
    },
  },
  {
    title: "an idle connection is open and drained-when is connections",
    play: async (world) => {
      await world.app();
      await world.serve([...ONE_APP, "--drained-when=connections"]);
      const idle = await world.dialApp();
      const gone = world.clock.wait(3_000).then(() => idle.end());
      await Promise.all([podEnds(world), gone]);
    },
  },
  {
    title: "drain-ports are set",
    play: async (world) => {
      await world.app();
      await world.app({ port: 8_081 });
      await world.serve([...ONE_APP, "--drain-ports=8081"]);
      void world.visit("/?ms=8000", 8_080);
      await world.clock.wait(300);
      await podEnds(world);
    },
  },
  {
    title: "ignore-ports are set",
    play: async (world) => {
      await world.app();
      await world.serve([...ONE_APP, "--ignore-ports=8080", "--kubelet-probes=8080:10s"]);
      void world.visit("/?ms=8000");
      await world.clock.wait(300);
      await podEnds(world);
    },
  },
  {
    title: "the app closes its port during the drain",
    play: async (world) => {
      const app = await world.app();
      await world.serve(["--drain-delay=4s", "--quiet-period=500ms", "--hooks=app:app"]);
      const ends = podEnds(world);
      await world.clock.wait(1_000);
      await once(app.close(), "close");
      await ends;
    },
  },
  {
    title: "the Pod has no listener",
    play: async (world) => {
      await world.serve(["--drain-delay=30s", "--hooks=app:app"]);
      await podEnds(world);
      await world.stop();
    },
  },
  {
    title: "the Pod has UDP sockets only",
    play: async (world) => {
      const socket = createSocket("udp4");
      socket.bind(8_080, world.address);
      await once(socket, "listening");
      await world.serve(["--drain-delay=1s", "--deregistration-delay=1s", "--quiet-period=10s", "--hooks=app:app"]);
      await podEnds(world);
      socket.close();
    },
  },
  {
    title: "a Pod that ran to completion still has a listening sidecar",
    play: async (world) => {
      await world.app();
      await world.serve(["--drain-delay=30s", "--completes", "--hooks=app:app"]);
      await world.drain("own");
      await world.stop();
    },
  },
  {
    title: "a Pod that runs to completion is deleted earlier",
    play: async (world) => {
      await world.app();
      await world.serve([...ONE_APP, "--completes"]);
      await podEnds(world);
      await world.stop();
    },
  },
  {
    title: "the app's port closes late in classic mode",
    play: async (world) => {
      const app = await world.app();
      await world.serve([
        "--drain-delay=1s",
        "--quiet-period=300ms",
        "--app-grace=20s",
        "--classic",
        "--hooks=app:app",
      ]);
      const own = world.drain("own");
      await world.hook("hook");
      await world.clock.wait(2_000);
      await once(app.close(), "close");
      await own;
      await world.stop();
    },
  },
  {
    title: "the preStop hook of a mesh proxy waits until its time limit",
    play: async (world) => {
      await world.app();
      await world.serve([
        "--drain-delay=1s",
        "--quiet-period=300ms",
        "--drain-timeout=2s",
        "--app-grace=4s",
        "--hooks=app:app,mesh:mesh-proxy",
      ]);
      await Promise.all([world.hook("mesh", "mesh"), podEnds(world)]);
    },
  },
  {
    title: "every caller of a hook disconnects",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      for (const request of [world.hookRequest, world.drainRequest]) {
        const socket = await world.dial();
        socket.on("error", () => {});
        socket.write(request);
        await world.processed();
        socket.resetAndDestroy();
        // Separates the disconnect from the next call.
        await world.processed();
      }
      await world.phase("done");
      await world.status("after");
      await world.stop();
    },
  },
  {
    title: "one hook is called 130 times",
    play: async (world) => {
      await world.app();
      await world.serve(["--drain-delay=8s", "--quiet-period=500ms", "--hooks=app:app"]);
      const own = world.drain("own");
      await world.processed();
      const calls: Promise<void>[] = [];
      for (let count = 1; count <= 130; count += 1) {
        calls.push(world.hook(`hook ${count}`));
        await world.processed();
      }
      await Promise.all([...calls, own]);
    },
  },
  {
    title: "the reader of the log stops reading",
    play: async (world) => {
      await world.app();
      const manager = await world.serve(ONE_APP);
      manager.closeLog();
      await podEnds(world);
      await world.status("after");
      await world.stop();
    },
  },
];
