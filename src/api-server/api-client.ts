/** Sends requests to the API server with the credentials of a kubeconfig or the Pod's ServiceAccount. */
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { Agent, request as requestHttps } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import {
  type ApiResponse,
  ApiStatusError,
  type OpenStream,
  ResponseTooLarge,
  type SendRequest,
} from "./api-request.ts";
import { parseRetryAfterMs } from "./retry-delay.ts";

/** Maximum size of the response to a request without `limitBytes`. */
const RESPONSE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Idle time before the kernel's TCP keep-alive probes, which detect a dead peer. */
const KEEP_ALIVE_PROBE_MS = 30_000;

/** Below the idle timeout of the API server, so that the server never closes a connection that is about to be reused. */
const IDLE_LIMIT_MS = 60_000;

export type ApiClient = { readonly request: SendRequest; readonly stream: OpenStream; readonly close: () => void };

export function createApiClient(kubeConfig: KubeConfig): ApiClient {
  const server = new URL(kubeConfig.getCurrentCluster()?.server ?? "");
  const agentOptions = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_PROBE_MS, timeout: IDLE_LIMIT_MS };
  const agent = server.protocol === "http:" ? new HttpAgent(agentOptions) : new Agent(agentOptions);
  const usesProxy = kubeConfig.getCurrentCluster()?.proxyUrl !== undefined;

  /** Reads the token and the CA again when their files have changed. */
  const readRequestOptions = async (method: string, path: string, body?: string): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    await kubeConfig.applyToHTTPSOptions(options);
    const { hostname, port, protocol, pathname } = server;
    const prefix = pathname === "/" ? "" : pathname.replace(/\/$/, "");
    return {
      ...options,
      // The agent of `@kubernetes/client-node` keeps the CA of its first request, so it is used only for a proxy, which requires it.
      agent: usesProxy ? options.agent : agent,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      ...(port === "" ? {} : { port }),
      method,
      path: `${prefix}${path}`,
      headers: {
        ...options.headers,
        accept: "application/json",
        "user-agent": "lastcall-webhook",
        ...(body === undefined
          ? {}
          : { "content-type": contentTypeOf(method), "content-length": Buffer.byteLength(body) }),
      },
    };
  };

  const send = async (method: string, path: string, signal: AbortSignal, body?: string): Promise<IncomingMessage> => {
    const options = await readRequestOptions(method, path, body);
    return new Promise((resolve, reject) => {
      const clientRequest = (server.protocol === "http:" ? requestHttp : requestHttps)({ ...options, signal }, resolve);
      clientRequest.on("socket", (socket) => socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS));
      clientRequest.on("error", reject);
      clientRequest.end(body);
    });
  };

  return {
    request: async ({ method, path, body, limitMs, limitBytes, signal: callerSignal }) => {
      const timeout = AbortSignal.timeout(Math.ceil(limitMs));
      const signal = callerSignal === undefined ? timeout : AbortSignal.any([timeout, callerSignal]);
      return rejectOnAbort(
        signal,
        send(method, path, signal, body).then((response) => readResponse(response, limitBytes)),
      );
    },
    stream: async ({ path, limitMs, signal, onOpen, onChunk }) => {
      const timeout = AbortSignal.timeout(Math.ceil(limitMs));
      const anySignal = AbortSignal.any([timeout, signal]);
      try {
        const response = await rejectOnAbort(anySignal, send("GET", path, anySignal));
        if (response.statusCode !== 200) {
          response.destroy();
          throw new ApiStatusError(response.statusCode ?? 0, path, parseRetryAfterMs(response.headers["retry-after"]));
        }
        onOpen();
        for await (const chunk of response) onChunk(chunk as Buffer);
      } catch (error) {
        if (!anySignal.aborted) throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

function contentTypeOf(method: string): string {
  return method === "PATCH" ? "application/json-patch+json" : "application/json";
}

/** Rejects when the signal aborts, even while a credential plugin hangs. */
export function rejectOnAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error("the API server did not respond in time"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** @throws ResponseTooLarge if the body is larger than `limitBytes`; the remaining body is not read */
export async function readResponse(response: IncomingMessage, limitBytes = RESPONSE_LIMIT_BYTES): Promise<ApiResponse> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of response) {
    byteCount += (chunk as Buffer).length;
    if (byteCount > limitBytes) throw new ResponseTooLarge(limitBytes);
    chunks.push(chunk as Buffer);
  }
  const result = { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
  const pauseMs = parseRetryAfterMs(response.headers["retry-after"]);
  return pauseMs === 0 ? result : { ...result, retryAfterMs: pauseMs };
}
