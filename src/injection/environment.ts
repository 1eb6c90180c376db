/** Environment variables of a container. */
import { objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";

/** A literal value among the container's environment variables. */
export function environmentValue(container: RawObject, name: string): string | undefined {
  const entry = objectsAt(container, "env").find((candidate) => candidate["name"] === name);
  return entry === undefined ? undefined : textAt(entry, "value");
}

/** A variable whose value kubelet takes from a field of the Pod. */
export function fromField(name: string, fieldPath: string): RawObject {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}
