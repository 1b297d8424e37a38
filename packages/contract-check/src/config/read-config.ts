import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ifValid, InputError } from '../input-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import { readSourceText, type SourceText } from '../text-file.ts';
import type { Config, ConfiguredContracts } from './config.ts';

export const configFile = 'contract-check.json';

const validate = validatorOf<Config>('config.schema.json');

/**
 * Reads the configuration.
 *
 * @param file null for `contract-check.json` in the folder, which may be missing
 */
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
    const fail = (problem: string): never => {
      throw new InputError(source.file, document.lineOf(pointer), `${pointer} ${problem}`);
    };
    if (!rulesById.has(rule))
      fail(`must be the id of a rule, not ${JSON.stringify(rule)}${didYouMean(rule, rulesById.keys())}`);
    if (rule.startsWith('version/'))
      fail('cannot be a rule for versions. List the change in contract-exceptions.json.');
  }
  return config;
}

/** The contracts that the configuration of an older commit lists. Empty if the commit has none, or an invalid one. */
export function formerlyListed(source: SourceText | null): readonly ConfiguredContracts[] {
  return (source && ifValid(() => parseConfig(source).contracts)) ?? [];
}
