import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ifValid } from '../input-error.ts';
import type { Direction } from '../json-schema/direction.ts';
import { failIn, parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import { readSourceText, type SourceText } from '../text-file.ts';
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

export const configFile = 'contract-check.json';

const validate = validatorOf<Config>('config.schema.json');

/** Reads the configuration. If `file` is null, it is `contract-check.json` in the folder, which may be missing. */
export function readConfig(file: string | null, folder: string): Config {
  const path = file ?? join(folder, configFile);
  return file === null && !existsSync(path) ? {} : parseConfig(readSourceText(path));
}

/** @throws {InputError} when the file is invalid. */
export function parseConfig(source: SourceText): Config {
  const document = parseJson(source);
  const config = validate(document, document.value);
  for (const [index, { rule }] of (config.overrides ?? []).entries()) {
    if (rule === undefined) continue;
    const pointer = `/overrides/${index}/rule`;
    const hint = didYouMean(rule, rulesById.keys());
    if (!rulesById.has(rule)) failIn(document, pointer, `must be the id of a rule, not ${JSON.stringify(rule)}${hint}`);
    if (rule.startsWith('version/'))
      failIn(document, pointer, 'cannot be a rule for versions. List the change in contract-exceptions.json.');
  }
  return config;
}

/** The contracts that the configuration of an older commit lists. Empty if the commit has none, or an invalid one. */
export function formerlyListed(source: SourceText | null): readonly ConfiguredContracts[] {
  return (source && ifValid(() => parseConfig(source).contracts)) ?? [];
}
