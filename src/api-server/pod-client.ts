/** Sends requests to a port of a Pod through the API server's port-forward, which reaches loopback addresses of the Pod. */
import { type IncomingMessage, request } from "node:http";
import { Duplex } from "node:stream";
import type { Cluster, KubeConfig } from "@kubernetes/client-node";
import { readResponse, rejectOnAbort } from "./api-client.ts";
import type { ApiResponse, SendRequest } from "./api-request.ts";

type PodPort = { readonly namespace: string; readonly pod: string; readonly port: number };

/** Every request opens a new connection. */
export type PodClient = (target: PodPort) => SendRequest;

/** Maximum length, in characters, of an error that the kubelet reports. */
const ERROR_LIMIT = 300;

export function createPodClient(kubeConfig: KubeConfig, request: SendRequest): PodClient {
  return (target) => (apiRequest) => {
    const timeout = AbortSignal.timeout(Math.ceil(apiRequest.limitMs));
    const signal = apiRequest.signal === undefined ? timeout : AbortSignal.any([timeout, apiRequest.signal]);
    const send = async (): Promise<ApiResponse> => {
      const portForward = await openPortForward(kubeConfig, target, signal).catch(async (cause: unknown) => {
        if (signal.aborted) throw cause;
        return fetchRejection(cause, target, request, apiRequest.limitMs, signal);
      });
      if ("status" in portForward) return portForward;
      try {
        return await readResponse(await sendOverSocket(portForward.socket, apiRequest, signal));
      } finally {
        portForward.close();
      }
    };
    return rejectOnAbort(signal, send());
  };
}

type PortForward = { readonly socket: Duplex; readonly close: () => void };

/** WebSocket channels of a forwarded port; the first message of each starts with two bytes that contain the port. */
const DATA_CHANNEL = 0;
const ERROR_CHANNEL = 1;

async function openPortForward(kubeConfig: KubeConfig, target: PodPort, signal: AbortSignal): Promise<PortForward> {
  const { WebSocketHandler } = await import("./web-socket.ts");
  const openedChannels = new Set<number>();
  const onMessage = (channel: number, bytes: Buffer): boolean => {
    const content = openedChannels.has(channel) ? bytes : bytes.subarray(2);
    openedChannels.add(channel);
    if (content.length === 0) return true;
    if (channel === DATA_CHANNEL) socket.push(content);
    else if (channel === ERROR_CHANNEL) socket.destroy(new Error(content.toString("utf8").slice(0, ERROR_LIMIT)));
    return true;
  };
  const socket = new Duplex({
    // Does not apply backpressure, because the size of the response is limited.
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) =>
      webSocket.send(Buffer.concat([Buffer.from([DATA_CHANNEL]), chunk]), done),
  });
  // Node ends the process on an `error` event without a listener.
  socket.on("error", () => undefined);
  const webSocket = await new WebSocketHandler(withAbortSignal(kubeConfig, signal)).connect(
    portForwardPath(target),
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
      // A close handshake would wait 30 s for an unresponsive peer.
      webSocket.terminate();
    },
  };
}

function portForwardPath({ namespace, pod, port }: PodPort): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward?ports=${port}`;
}

/** `WebSocketHandler` does not take an AbortSignal, so the signal is passed through the options of its handshake request. */
function withAbortSignal(kubeConfig: KubeConfig, signal: AbortSignal): KubeConfig {
  const derivedConfig: KubeConfig = Object.create(kubeConfig);
  derivedConfig.applyToHTTPSOptions = async (options) => {
    await kubeConfig.applyToHTTPSOptions(options);
    Object.assign(options, { signal });
  };
  derivedConfig.getCurrentCluster = (): Cluster | null => {
    const cluster = kubeConfig.getCurrentCluster();
    // `WebSocketHandler` appends a path with a leading slash, so the server's URL must not end with a slash.
    return cluster === null ? null : { ...cluster, server: cluster.server.replace(/\/$/, "") };
  };
  return derivedConfig;
}

/**
 * Returns the API server's reason for a failed handshake. `WebSocketHandler` reports only the status; a plain GET gets the same
 * status, with a Status object as body.
 */
async function fetchRejection(
  cause: unknown,
  target: PodPort,
  request: SendRequest,
  limitMs: number,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const message = messageOf(cause);
  const status = Number(/Unexpected server response: ([0-9]{3})/.exec(message)?.[1] ?? 0);
  if (status === 0) throw new Error(message);
  const plainResponse = await request({ method: "GET", path: portForwardPath(target), limitMs, signal });
  if (plainResponse.status !== status) throw new Error(`the API server rejected the port-forward with ${status}`);
  return plainResponse;
}

/** `WebSocketHandler` rejects with an ErrorEvent. */
function messageOf(cause: unknown): string {
  const message = typeof cause === "object" && cause !== null && "message" in cause ? cause.message : undefined;
  return typeof message === "string" && message !== "" ? message : String(cause);
}

function sendOverSocket(
  socket: Duplex,
  { method, path }: Parameters<SendRequest>[0],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ method, path, host: "localhost", signal, createConnection: () => socket }, resolve);
    outgoing.on("error", reject);
    outgoing.end();
  });
}
