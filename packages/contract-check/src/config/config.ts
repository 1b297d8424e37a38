import type { Direction } from '../json-schema/direction.ts';
import type { Verdict } from '../verdict.ts';

export type ContractKind = 'graphql' | 'json-schema' | 'manifest' | 'api' | 'append-only';

/** How to compare contracts. `config.schema.json` describes the members. */
export interface ComparisonSettings {
  readonly direction: Direction;
  readonly closedOutputs: boolean;
  readonly directives: Readonly<Record<string, Verdict>>;
  /** Whether a GraphQL schema is a part of a larger one. */
  readonly partial: boolean;
  /** Names of exported TypeScript unions whose users handle types that they do not know. */
  readonly openUnions: readonly string[];
}

/** The configuration file. `config.schema.json` is the JSON Schema of this type. */
export interface Config {
  readonly contracts?: readonly ConfiguredContracts[];
  readonly overrides?: readonly Override[];
  /** Whether the last release of a package is looked up on the npm registry before git. Defaults to false. */
  readonly registry?: boolean;
}

/** Contract files of one kind in one package. */
export interface ConfiguredContracts extends Partial<ComparisonSettings> {
  readonly kind: ContractKind;
  /** Relative to the root. Defaults to the root. */
  readonly folder?: string;
  /** Patterns, relative to the folder. */
  readonly files: readonly string[];
  /** Defaults to the last release of the package. */
  readonly baseline?: string;
  readonly package?: string;
  readonly frozen?: boolean;
  readonly minimumLifetimeMonths?: number;
  readonly servedBy?: readonly string[];
}

/** A verdict that differs from that of the rule. `rule` or `coordinate` is set. */
export interface Override {
  readonly rule?: string;
  readonly coordinate?: string;
  readonly files?: readonly string[];
  readonly verdict: Verdict;
  readonly reason: string;
}
