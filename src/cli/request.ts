/** Requests of the commands, read from their flags. */
import type { ClusterFacts } from "../injection/inject.ts";
import type { Release } from "../injection/opt-in/selection.ts";
import type { TemplatePath } from "../kubernetes/template-path.ts";
import type { ClusterConfig } from "../policy/cluster-config.ts";
import type { Layer } from "../policy/resolve.ts";

export type CommandRequest = {
  readonly paths: readonly string[];
  readonly json: boolean;
  readonly templatePaths: readonly TemplatePath[];
  readonly namespace: string;
};

export type InjectRequest = CommandRequest & {
  readonly facts: ClusterFacts;
  readonly config: ClusterConfig;
  readonly overrides: readonly Layer[];
  readonly tokenSeed: string;
};

export type ExplainRequest = InjectRequest & { readonly release: Release };
