/** Clients that still come when the Pod is told to end, and clients that never leave. */
import { isNoHook } from "../../injection/hooks/own-hooks.ts";
import { isInMesh, MESHES } from "../../injection/mesh/mesh.ts";
import { objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { balancedServicesOf, preStopOf, servingContainers } from "../containers.ts";
import type { Rule, Violation } from "../rule.ts";

export const NO_TIME_FOR_ENDPOINTS: Rule = {
  id: "no-time-for-endpoints",
  title: "Nothing delays the stop signal",
  why: "A Pod gets its stop signal at the same moment as its endpoint begins to be withdrawn. Proxies and load balancers learn of that some seconds later and send requests until then. Whether the app goes on accepting them after the signal cannot be seen in a manifest; most servers do not.",
  remedy: "Hold the stop signal: with lastcall, or with a preStop hook that sleeps for some seconds.",
  level: "warning",
  check: ({ workloads }) =>
    workloads
      .filter(({ isHeld }) => !isHeld)
      .flatMap((workload) =>
        servingContainers(workload)
          .filter(({ container }) => !hasHook(container))
          .map(
            ({ container, path, name, services }): Violation => ({
              at: workload,
              path: [...path, "lifecycle", "preStop"],
              value: preStopOf(container),
              message: `Container ${name} serves Service ${services.join(", ")} and has no preStop hook, so its stop signal does not wait for endpoints to spread.`,
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
  title: "HTTP/2 clients stay until the end",
  why: "Clients of HTTP/2 and gRPC keep one connection for all their requests, so an endpoint's withdrawal does not send them away: a delay alone changes nothing, and they are cut with what is open when the app closes.",
  remedy:
    "Have the server send GOAWAY when its Pod ends, limit the age of connections (MAX_CONNECTION_AGE in gRPC), or let lastcall wait for the open requests.",
  level: "note",
  check: ({ workloads }) =>
    workloads
      .filter(
        ({ isHeld, pod, namespaceOptIns }) => !isHeld && !MESHES.some((mesh) => isInMesh(mesh, pod, namespaceOptIns)),
      )
      .flatMap((workload) =>
        balancedServicesOf(workload).flatMap((service) =>
          objectsAt(objectAt(service.object, "spec"), "ports").flatMap((port, index): readonly Violation[] => {
            const field = streamField(port);
            if (field === undefined) return [];
            const path = [...service.at, "spec", "ports", index, field];
            const message = `Clients of ${workload.kind} ${workload.name} speak HTTP/2 to this port and stay on one Pod until it closes their connection.`;
            return [{ at: service, path, value: port[field], message }];
          }),
        ),
      ),
};

const STREAM_PROTOCOLS = /^(?:grpc|http2|h2c|kubernetes\.io\/h2c)$/i;
const STREAM_NAMES = /^(?:grpc|http2|h2c)(?:-|$)/;

/** The field that says so: `appProtocol` as the API has it, or the name as meshes read it. */
function streamField(port: RawObject): "appProtocol" | "name" | undefined {
  const protocol = textAt(port, "appProtocol");
  if (protocol !== undefined) return STREAM_PROTOCOLS.test(protocol) ? "appProtocol" : undefined;
  return STREAM_NAMES.test(textAt(port, "name") ?? "") ? "name" : undefined;
}
