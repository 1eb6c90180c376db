/** Stories of Pods that end. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { ONE_APP, podEnds, type Scenario, SHORT } from "./scenario.ts";

export const DRAINS: readonly Scenario[] = [
  {
    says: "a Pod without traffic ends",
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
    says: "the manager's own hook is its command",
    play: async (world) => {
      await world.app();
      // Long enough for the hook to join after the command's start.
      await world.serve(["--drain-delay=4s", ...ONE_APP.slice(1)]);
      const own = world.command("own", ["drain", `--address-scope=${world.address}`]);
      await world.phase("withdrawing");
      await Promise.all([own, world.hook("hook")]);
      await world.command("status", ["status", `--address-scope=${world.address}`]);
      await world.stop("SIGINT");
    },
  },
  {
    says: "two containers' hooks alone are a restart",
    play: async (world) => {
      await world.app();
      await world.serve([...SHORT, "--hooks=web:app,job:app"]);
      const web = world.hook("web", "web");
      // Each is let go at its own time. At one moment the log of either build may name the other as held.
      await world.clock.wait(2_000);
      await Promise.all([web, world.hook("job", "job")]);
      await world.status("after");
    },
  },
  {
    says: "a Pod of two containers ends, and all phases can be asked for",
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
    says: "a lone hook is a restart, and the end comes later",
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
    says: "a request that takes long is waited for",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      const visit = world.visit("/?ms=3500").then(() => world.tell("visited", "whole"));
      await world.clock.wait(300);
      await Promise.all([podEnds(world), visit]);
    },
  },
  {
    says: "the deadline comes and names who stays",
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
    says: "a drain that ends at its deadline by plan",
    play: async (world) => {
      await world.app();
      await world.serve(["--drain-delay=300ms", "--drain-timeout=2s", "--drained-when=deadline", "--hooks=app:app"]);
      await podEnds(world);
    },
  },
  {
    says: "an idle connection is waited for where connections count",
    play: async (world) => {
      await world.app();
      await world.serve([...ONE_APP, "--drained-when=connections"]);
      const idle = await world.dialApp();
      const gone = world.clock.wait(3_000).then(() => idle.end());
      await Promise.all([podEnds(world), gone]);
    },
  },
  {
    says: "only the ports named count",
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
    says: "ports that are ignored do not count",
    play: async (world) => {
      await world.app();
      await world.serve([...ONE_APP, "--ignore-ports=8080", "--kubelet-probes=8080:10s"]);
      void world.visit("/?ms=8000");
      await world.clock.wait(300);
      await podEnds(world);
    },
  },
  {
    says: "an app that closes its port by itself has nothing left to drain",
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
    says: "nothing in the Pod listens",
    play: async (world) => {
      await world.serve(["--drain-delay=30s", "--hooks=app:app"]);
      await podEnds(world);
      await world.stop();
    },
  },
  {
    says: "a Pod of datagrams gets its delays",
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
    says: "a Pod that ran to completion ends at once although a sidecar listens",
    play: async (world) => {
      await world.app();
      await world.serve(["--drain-delay=30s", "--completes", "--hooks=app:app"]);
      await world.drain("own");
      await world.stop();
    },
  },
  {
    says: "a Pod that would run to completion and is ended early is drained",
    play: async (world) => {
      await world.app();
      await world.serve([...ONE_APP, "--completes"]);
      await podEnds(world);
      await world.stop();
    },
  },
  {
    says: "in classic mode the own hook outlasts the app's port",
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
    says: "a mesh proxy is held until its bound",
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
    says: "every caller vanishes",
    play: async (world) => {
      await world.app();
      await world.serve(ONE_APP);
      for (const words of [world.hookWords, world.drainWords]) {
        const socket = await world.dial();
        socket.on("error", () => {});
        socket.write(words);
        await world.heard();
        socket.resetAndDestroy();
        // The next call must not come in the same breath.
        await world.heard();
      }
      await world.phase("done");
      await world.status("after");
      await world.stop();
    },
  },
  {
    says: "of many calls of one hook the newest are answered",
    play: async (world) => {
      await world.app();
      await world.serve(["--drain-delay=8s", "--quiet-period=500ms", "--hooks=app:app"]);
      const own = world.drain("own");
      await world.heard();
      const calls: Promise<void>[] = [];
      for (let count = 1; count <= 130; count += 1) {
        calls.push(world.hook(`hook ${count}`));
        await world.heard();
      }
      await Promise.all([...calls, own]);
    },
  },
  {
    says: "no one reads the log any more",
    play: async (world) => {
      await world.app();
      const manager = await world.serve(ONE_APP);
      manager.deafen();
      await podEnds(world);
      await world.status("after");
      await world.stop();
    },
  },
];
