import { join } from 'node:path';
import { ifValid } from '../input-error.ts';
import { failIn, parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import { readIfThere, readSourceText, type SourceText } from '../text-file.ts';
import type { Config, Contracts } from './generated/config.ts';

/** Contract files of one kind in one package. */
export type ConfiguredContracts = Contracts;

export type ContractKind = Contracts['kind'];

/** How to compare contracts. `openUnions`: names of exported TypeScript unions whose users handle types that they do not know. */
export type ComparisonSettings = Required<
  Pick<Contracts, 'direction' | 'closedOutputs' | 'directives' | 'partial' | 'openUnions'>
>;

export const configFile = 'contract-check.json';

const validate = validatorOf<Config>('config.schema.json');

/** Reads the configuration. If `file` is null, it is `contract-check.json` in the folder, which may be missing. */
export function readConfig(file: string | null, folder: string): Config {
  const source = file === null ? readIfThere(join(folder, configFile)) : readSourceText(file);
  return source === null ? {} : parseConfig(source);
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
