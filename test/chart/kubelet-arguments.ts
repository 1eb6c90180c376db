/** Expands a container's arguments as a kubelet does: it replaces `$(NAME)` by the value of an environment variable. */
import { at, listOf } from "./rendering.ts";

export type KnownService = {
  readonly name: string;
  readonly address: string;
  /** Port numbers by port name, in the order of the Service's ports. */
  readonly ports: Readonly<Record<string, number>>;
};

/** Returns the arguments of a Pod's first container, expanded with the variables that describe Services. */
export function expandArgs(podSpec: unknown, services: readonly KnownService[]): readonly string[] {
  const variables = at(podSpec, "enableServiceLinks") === false ? new Map<string, string>() : variablesOf(services);
  return listOf<string>(podSpec, "containers", 0, "args").map((arg) =>
    // A kubelet leaves an unknown name unexpanded.
    arg.replaceAll(/\$\(([A-Za-z_][A-Za-z0-9_]*)\)/g, (text, name: string) => variables.get(name) ?? text),
  );
}

function variablesOf(services: readonly KnownService[]): Map<string, string> {
  return new Map(
    services.flatMap(({ name, address, ports }) => {
      const prefix = variableNameOf(name);
      const namedPorts = Object.entries(ports).map(([port, number]) => [`_${variableNameOf(port)}`, number] as const);
      const [[, firstPort] = ["", 0]] = namedPorts;
      const portNumbers = [["", firstPort] as const, ...namedPorts];
      return [
        [`${prefix}_SERVICE_HOST`, address] as const,
        ...portNumbers.map(([suffix, number]) => [`${prefix}_SERVICE_PORT${suffix}`, String(number)] as const),
      ];
    }),
  );
}

function variableNameOf(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}
