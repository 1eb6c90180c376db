/** Sends single requests to the API server during the cluster's start, without loading a client library. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { API_SERVER_URL } from "./addresses.ts";

export type ApiResponse = { readonly status: number; readonly body: string };

/** Sends a GET as administrator. Rejects if no response arrives within 2 s. */
export function requestApi(path: string, pki: string): Promise<ApiResponse> {
  const read = (name: string) => readFileSync(join(pki, name));
  const identity = { ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key") };
  return new Promise((resolve, reject) => {
    const apiRequest = request(
      `${API_SERVER_URL}${path}`,
      { ...identity, agent: false, timeout: 2_000 },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          body += chunk;
        });
        response.once("end", () => resolve({ status: response.statusCode ?? 0, body }));
        response.once("error", reject);
      },
    );
    apiRequest.once("timeout", () => apiRequest.destroy(new Error("no response within 2 s")));
    apiRequest.once("error", reject);
    apiRequest.end();
  });
}

export type NodeState = {
  readonly name: string;
  readonly ready: boolean;
  /** The kubelet's message in the condition Ready. */
  readonly why: string;
  readonly kubelet: string;
};

/** Lists the registered nodes. */
export async function listNodes(pki: string): Promise<readonly NodeState[]> {
  const { status, body } = await requestApi("/api/v1/nodes", pki);
  if (status !== 200) throw new Error(`the API server responded to GET /api/v1/nodes with ${status}`);
  const list: NodeList = JSON.parse(body);
  return list.items.map(({ metadata, status: state }) => {
    const ready = state.conditions?.find(({ type }) => type === "Ready");
    return {
      name: metadata.name,
      ready: ready?.status === "True",
      why: ready?.message ?? "",
      kubelet: state.nodeInfo?.kubeletVersion ?? "",
    };
  });
}

type NodeList = {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: {
      readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
      readonly nodeInfo?: { readonly kubeletVersion: string };
    };
  }[];
};
