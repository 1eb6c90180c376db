/** Sends requests to a port of a Pod through the API server's port-forward, which reaches loopback addresses of the Pod. */
import { type IncomingMessage, request } from "node:http";
import { Duplex } from "node:stream";
import type { Cluster, KubeConfig } from "@kubernetes/client-node";
import type { ApiAnswer, AskApi } from "./api-request.ts";
import { readWhole, within } from "./api-runner.ts";

type PodPort = { readonly namespace: string; readonly pod: string; readonly port: number };

/** Requests to one port of one Pod. Every request opens a connection of its own. */
export type AskPod = (target: PodPort) => AskApi;

/** Characters of an error that the kubelet reports. */
const ERROR_LIMIT = 300;

/** @param ask the API server, for the reason of a refused port-forward */
export function podRunner(connection: KubeConfig, ask: AskApi): AskPod {
  return (target) => (question) => {
    const limit = AbortSignal.timeout(Math.ceil(question.limitMs));
    const signal = question.signal === undefined ? limit : AbortSignal.any([limit, question.signal]);
    const send = async (): Promise<ApiAnswer> => {
      const forward = await openForward(connection, target, signal).catch(async (cause: unknown) => {
        if (signal.aborted) throw cause;
        return refusalOf(cause, target, ask, question.limitMs, signal);
      });
      if ("status" in forward) return forward;
      try {
        return await readWhole(await sendOn(forward.socket, question, signal));
      } finally {
        forward.close();
      }
    };
    return within(signal, send());
  };
}

type Forward = { readonly socket: Duplex; readonly close: () => void };

/** Channels of a forwarded port; each begins with two bytes that repeat its number. */
const DATA = 0;
const ERROR = 1;

async function openForward(connection: KubeConfig, target: PodPort, signal: AbortSignal): Promise<Forward> {
  const { WebSocketHandler } = await import("./web-socket.ts");
  const opened = new Set<number>();
  const onMessage = (channel: number, bytes: Buffer): boolean => {
    const content = opened.has(channel) ? bytes : bytes.subarray(2);
    opened.add(channel);
    if (content.length === 0) return true;
    if (channel === DATA) socket.push(content);
    else if (channel === ERROR) socket.destroy(new Error(content.toString("utf8").slice(0, ERROR_LIMIT)));
    return true;
  };
  const socket = new Duplex({
    // The answer is limited in size, so nothing holds the sender back.
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => webSocket.send(Buffer.concat([Buffer.from([DATA]), chunk]), done),
  });
  // An error without a listener would end the process.
  socket.on("error", () => undefined);
  const webSocket = await new WebSocketHandler(abortable(connection, signal)).connect(
    forwardPath(target),
    null,
    onMessage,
  );
  const onClose = (): unknown => socket.destroy(new Error("the API server closed the port-forward"));
  webSocket.addEventListener("close", onClose);
  return {
    socket,
    close: () => {
      webSocket.removeEventListener("close", onClose);
      socket.destroy();
      // A close handshake would wait 30 s for a peer that does not answer it.
      webSocket.terminate();
    },
  };
}

function forwardPath({ namespace, pod, port }: PodPort): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward?ports=${port}`;
}

/** The client has no parameter for a signal: it reaches the request of the WebSocket handshake by its options. */
function abortable(connection: KubeConfig, signal: AbortSignal): KubeConfig {
  const config: KubeConfig = Object.create(connection);
  config.applyToHTTPSOptions = async (options) => {
    await connection.applyToHTTPSOptions(options);
    Object.assign(options, { signal });
  };
  config.getCurrentCluster = (): Cluster | null => {
    const cluster = connection.getCurrentCluster();
    // The client appends an absolute path.
    return cluster === null ? null : { ...cluster, server: cluster.server.replace(/\/$/, "") };
  };
  return config;
}

/** A failed handshake has no body: a plain request is refused for the same reason, in words. */
async function refusalOf(
  cause: unknown,
  target: PodPort,
  ask: AskApi,
  limitMs: number,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const message = messageOf(cause);
  const status = Number(/Unexpected server response: ([0-9]{3})/.exec(message)?.[1] ?? 0);
  if (status === 0) throw new Error(message);
  const plain = await ask({ method: "GET", path: forwardPath(target), limitMs, signal });
  if (plain.status !== status) throw new Error(`the API server refused the port-forward with ${status}`);
  return plain;
}

/** The client rejects with an event of the WebSocket. */
function messageOf(cause: unknown): string {
  const message = typeof cause === "object" && cause !== null && "message" in cause ? cause.message : undefined;
  return typeof message === "string" && message !== "" ? message : String(cause);
}

function sendOn(
  socket: Duplex,
  { method, path }: Parameters<AskApi>[0],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ method, path, host: "localhost", signal, createConnection: () => socket }, resolve);
    sent.on("error", reject);
    sent.end();
  });
}
