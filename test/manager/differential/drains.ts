/** Scenarios of drains. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { ONE_APP, type Scenario, SHORT_DRAIN, terminatePod } from "./scenario.ts";

export const DRAINS: readonly Scenario[] = [
  {
    title: "a Pod without traffic terminates",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(ONE_APP, { POD_NAME: "web-0", POD_NAMESPACE: "shop" });
      await pod.requestStatus("before");
      await terminatePod(pod);
      await pod.requestStatus("after");
      await pod.callHook("late hook");
      await pod.requestDrain("late own");
      await pod.stop();
    },
  },
  {
    title: "the manager's own hook is an exec command",
    play: async (pod) => {
      await pod.startApp();
      // The test calls the app's hook only after the command has started the drain, and before the end of this drain delay.
      await pod.serve(["--drain-delay=4s", ...ONE_APP.slice(1)]);
      const drainCommand = pod.runCommand("own", ["drain", `--address-scope=${pod.address}`]);
      await pod.untilPhase("withdrawing");
      await Promise.all([drainCommand, pod.callHook("hook")]);
      await pod.runCommand("status", ["status", `--address-scope=${pod.address}`]);
      await pod.stop("SIGINT");
    },
  },
  {
    title: "two containers restart and their hooks are called",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([...SHORT_DRAIN, "--hooks=web:app,job:app"]);
      const webHook = pod.callHook("web", "web");
      // If both hooks were released at the same time, the log could list either of them as still held.
      await pod.clock.wait(2_000);
      await Promise.all([webHook, pod.callHook("job", "job")]);
      await pod.requestStatus("after");
    },
  },
  {
    title: "a Pod of two containers terminates and a client requests the status in each phase",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([...SHORT_DRAIN, "--deregistration-delay=1s", "--hooks=web:app,job:app"]);
      const webHook = pod.callHook("web", "web");
      await pod.clock.wait(100);
      const jobHook = pod.callHook("job", "job");
      await pod.clock.wait(100);
      const calls = [webHook, jobHook, pod.requestDrain("own")];
      await pod.untilPhase("withdrawing");
      await pod.requestStatus("withdrawing");
      void pod.visit("/?ms=4000");
      await pod.untilPhase("draining");
      await pod.requestStatus("draining");
      await Promise.all(calls);
      await pod.stop();
    },
  },
  {
    title: "one container restarts and the Pod terminates later",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([...SHORT_DRAIN, "--hooks=app:app,other:app"]);
      await pod.callHook("restarted");
      await pod.requestStatus("between");
      await Promise.all([pod.callHook("other", "other"), pod.requestDrain("own")]);
      await pod.stop();
    },
  },
  {
    title: "a slow request is active at the trigger",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(ONE_APP);
      const visit = pod.visit("/?ms=3500").then(() => pod.record("visited", "whole"));
      await pod.clock.wait(300);
      await Promise.all([terminatePod(pod), visit]);
    },
  },
  {
    title: "connections are open at the deadline",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(["--drain-delay=300ms", "--quiet-period=10s", "--drain-timeout=2s", "--hooks=app:app"]);
      const visits = Array.from({ length: 5 }, () => pod.visit("/?ms=60000"));
      await pod.clock.wait(300);
      await terminatePod(pod);
      await pod.requestStatus("after");
      await pod.stop();
      void visits;
    },
  },
  {
    title: "`drained-when` is `deadline`",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(["--drain-delay=300ms", "--drain-timeout=2s", "--drained-when=deadline", "--hooks=app:app"]);
      await terminatePod(pod);
    },
  },
  {
    title: "an idle connection is open and `drained-when` is `connections`",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([...ONE_APP, "--drained-when=connections"]);
      const idleConnection = await pod.dialApp();
      const clientClose = pod.clock.wait(3_000).then(() => idleConnection.end());
      await Promise.all([terminatePod(pod), clientClose]);
    },
  },
  {
    title: "drain-ports are set",
    play: async (pod) => {
      await pod.startApp();
      await pod.startApp({ port: 8_081 });
      await pod.serve([...ONE_APP, "--drain-ports=8081"]);
      void pod.visit("/?ms=8000", 8_080);
      await pod.clock.wait(300);
      await terminatePod(pod);
    },
  },
  {
    title: "ignore-ports are set",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([...ONE_APP, "--ignore-ports=8080", "--kubelet-probes=8080:10s"]);
      void pod.visit("/?ms=8000");
      await pod.clock.wait(300);
      await terminatePod(pod);
    },
  },
  {
    title: "the app closes its port during the drain",
    play: async (pod) => {
      const app = await pod.startApp();
      await pod.serve(["--drain-delay=4s", "--quiet-period=500ms", "--hooks=app:app"]);
      const termination = terminatePod(pod);
      await pod.clock.wait(1_000);
      await once(app.close(), "close");
      await termination;
    },
  },
  {
    title: "the Pod does not have a listener",
    play: async (pod) => {
      await pod.serve(["--drain-delay=30s", "--hooks=app:app"]);
      await terminatePod(pod);
      await pod.stop();
    },
  },
  {
    title: "the Pod has UDP sockets only",
    play: async (pod) => {
      const socket = createSocket("udp4");
      socket.bind(8_080, pod.address);
      await once(socket, "listening");
      await pod.serve(["--drain-delay=1s", "--deregistration-delay=1s", "--quiet-period=10s", "--hooks=app:app"]);
      await terminatePod(pod);
      socket.close();
    },
  },
  {
    title: "a Pod that ran to completion still has a listening sidecar",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(["--drain-delay=30s", "--completes", "--hooks=app:app"]);
      await pod.requestDrain("own");
      await pod.stop();
    },
  },
  {
    title: "a Pod that runs to completion is deleted earlier",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([...ONE_APP, "--completes"]);
      await terminatePod(pod);
      await pod.stop();
    },
  },
  {
    title: "the app's port closes late in classic mode",
    play: async (pod) => {
      const app = await pod.startApp();
      await pod.serve(["--drain-delay=1s", "--quiet-period=300ms", "--app-grace=20s", "--classic", "--hooks=app:app"]);
      const ownHook = pod.requestDrain("own");
      await pod.callHook("hook");
      await pod.clock.wait(2_000);
      await once(app.close(), "close");
      await ownHook;
      await pod.stop();
    },
  },
  {
    title: "the preStop hook of a mesh proxy waits until its time limit",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve([
        "--drain-delay=1s",
        "--quiet-period=300ms",
        "--drain-timeout=2s",
        "--app-grace=4s",
        "--hooks=app:app,mesh:mesh-proxy",
      ]);
      await Promise.all([pod.callHook("mesh", "mesh"), terminatePod(pod)]);
    },
  },
  {
    title: "every caller of a hook disconnects",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(ONE_APP);
      for (const request of [pod.hookRequest, pod.drainRequest]) {
        const socket = await pod.dial();
        socket.on("error", () => {});
        socket.write(request);
        await pod.untilProcessed();
        socket.resetAndDestroy();
        // The next call must arrive after the manager has processed the disconnect.
        await pod.untilProcessed();
      }
      await pod.untilPhase("done");
      await pod.requestStatus("after");
      await pod.stop();
    },
  },
  {
    title: "one hook is called 130 times",
    play: async (pod) => {
      await pod.startApp();
      await pod.serve(["--drain-delay=8s", "--quiet-period=500ms", "--hooks=app:app"]);
      const ownHook = pod.requestDrain("own");
      await pod.untilProcessed();
      const calls: Promise<void>[] = [];
      for (let count = 1; count <= 130; count += 1) {
        calls.push(pod.callHook(`hook ${count}`));
        await pod.untilProcessed();
      }
      await Promise.all([...calls, ownHook]);
    },
  },
  {
    title: "the reader of the log stops reading",
    play: async (pod) => {
      await pod.startApp();
      const manager = await pod.serve(ONE_APP);
      manager.closeLog();
      await terminatePod(pod);
      await pod.requestStatus("after");
      await pod.stop();
    },
  },
];
