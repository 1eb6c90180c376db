/** Finds Pods that stop before their endpoint is withdrawn, and clients whose connections outlive the withdrawal. */
import { isNoHook } from "../../injection/hooks/own-hooks.ts";
import { isInMesh, MESHES } from "../../injection/mesh/mesh.ts";
import { objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { preStopOf, proxiedServicesOf, servingContainers } from "../containers.ts";
import type { Rule, Violation } from "../rule.ts";

export const NO_TIME_FOR_ENDPOINTS: Rule = {
  id: "no-time-for-endpoints",
  title: "Nothing delays the stop signal",
  why: "A Pod gets its stop signal when the withdrawal of its endpoint starts. Proxies and load balancers are updated some seconds later and send requests until then. Most servers stop accepting requests on the signal; a manifest does not show whether the app does.",
  remedy: "Delay the stop signal with lastcall, or with a preStop hook that sleeps for some seconds.",
  level: "warning",
  check: ({ workloads }) =>
    workloads
      .filter(({ isInjected }) => !isInjected)
      .flatMap((workload) =>
        servingContainers(workload)
          .filter(({ container }) => !hasHook(container))
          .map(
            ({ container, path, name, services }): Violation => ({
              at: workload,
              path: [...path, "lifecycle", "preStop"],
              value: preStopOf(container),
              message: `Container ${name} serves Service ${services.join(", ")} and has no preStop hook, so its stop signal does not wait for the endpoint's withdrawal.`,
            }),
          ),
      ),
};

function hasHook(container: RawObject): boolean {
  const handler = preStopOf(container);
  return handler !== undefined && !isNoHook(handler);
}

export const KEPT_STREAMS: Rule = {
  id: "kept-streams",
  title: "HTTP/2 clients stay connected until the app disconnects them",
  why: "HTTP/2 and gRPC clients keep one connection for all requests, so withdrawing the endpoint does not move them. A delay alone does not change that: when the app closes the connection, the open requests on it fail.",
  remedy:
    "Send GOAWAY when the Pod terminates, limit the age of connections (MAX_CONNECTION_AGE in gRPC), or use lastcall to wait for open requests.",
  level: "note",
  check: ({ workloads }) =>
    workloads
      .filter(
        ({ isInjected, pod, namespaceMetadata }) =>
          !isInjected && !MESHES.some((mesh) => isInMesh(mesh, pod, namespaceMetadata)),
      )
      .flatMap((workload) =>
        proxiedServicesOf(workload).flatMap((service) =>
          objectsAt(objectAt(service.object, "spec"), "ports").flatMap((port, index): readonly Violation[] => {
            const field = streamField(port);
            if (field === undefined) return [];
            const path = [...service.objectPath, "spec", "ports", index, field];
            const message = `Clients of ${workload.kind} ${workload.name} use HTTP/2 on this port and stay connected to one Pod until it closes the connection.`;
            return [{ at: service, path, value: port[field], message }];
          }),
        ),
      ),
};

const STREAM_PROTOCOLS = /^(?:grpc|http2|h2c|kubernetes\.io\/h2c)$/i;
const STREAM_NAMES = /^(?:grpc|http2|h2c)(?:-|$)/;

/** The field that declares HTTP/2: the API's `appProtocol`, or the port name that meshes read. */
function streamField(port: RawObject): "appProtocol" | "name" | undefined {
  const protocol = textAt(port, "appProtocol");
  if (protocol !== undefined) return STREAM_PROTOCOLS.test(protocol) ? "appProtocol" : undefined;
  return STREAM_NAMES.test(textAt(port, "name") ?? "") ? "name" : undefined;
}
