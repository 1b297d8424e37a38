import { createReadStream } from 'node:fs';
import { webhookSecretProblem } from '@deedwire/webhook-signing';
import { prefixProblem } from '../event-headers.ts';
import { field } from '../field.ts';
import { CommandError, type Shell, UsageError } from './shell.ts';

/**
 * Reads a file, or standard input for `-`.
 *
 * @param option of a file with secrets: a message names it in place of the path, which can be a secret by mistake
 * @throws {UsageError} if it cannot be read or is too large
 */
export async function readInput(shell: Shell, path: string, maxBytes: number, option?: string): Promise<Buffer> {
  const name = path === '-' ? 'standard input' : option === undefined ? path : `the file of ${option}`;
  if (path === '-' && shell.stdin.isTTY === true)
    throw new UsageError('standard input is a terminal. Name a file, or pipe one.');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of path === '-' ? shell.stdin : createReadStream(path)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) break;
    }
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${String(field(error, 'code'))}.`, { cause: error });
  }
  if (bytes > maxBytes) throw new UsageError(`${name} is larger than ${maxBytes.toLocaleString('en')} bytes.`);
  return Buffer.concat(chunks);
}

/** @throws {UsageError} if several of the files that a command reads are standard input */
export function checkStandardInput(...paths: readonly (string | undefined)[]): void {
  if (paths.filter((path) => path === '-').length > 1)
    throw new UsageError('only one of the files can be standard input.');
}

const textMax = 100_000;

export interface SecretOptions {
  readonly 'env-file'?: string | undefined;
  readonly 'secret-file'?: string | undefined;
}

/** Standard input and other pipes can be read only once, and a command can need the settings more often. */
const settingsOf = new WeakMap<Shell, Promise<Shell['env']>>();

/** The environment, and what `--env-file` adds to it. As with `--env-file` of Node, the environment wins. */
export function readSettings(shell: Shell, options: SecretOptions): Promise<Shell['env']> {
  const settings = settingsOf.get(shell) ?? withEnvFile(shell, options);
  settingsOf.set(shell, settings);
  return settings;
}

async function withEnvFile(shell: Shell, { 'env-file': envFile }: SecretOptions): Promise<Shell['env']> {
  if (envFile === undefined) return shell.env;
  const settings: Record<string, string | undefined> = {};
  // A quoted value can have several lines.
  const variable = /^\s*(?:export\s+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|([^#\n]*))/gm;
  for (const [, name = '', escaped, quoted, plain] of (await readInput(shell, envFile, textMax, '--env-file'))
    .toString()
    .matchAll(variable))
    settings[name] = escaped?.replaceAll(String.raw`\n`, '\n') ?? quoted ?? plain?.trim();
  hideSecrets(shell.hidden, settings);
  return { ...settings, ...Object.fromEntries(Object.entries(shell.env).filter(([, value]) => (value ?? '') !== '')) };
}

/** An environment for code of the user, without what it does not need. */
export function environmentWithout(env: Shell['env'], ...names: string[]): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

/** No message may quote them. */
export function hideSecrets(hidden: Set<string>, settings: Shell['env']): void {
  const { WEBHOOK_SECRET = '', WEBHOOK_HEADER = '', API_KEY = '', DATABASE_URL = '' } = settings;
  const [, password = ''] = /:([^:@/]+)@/.exec(DATABASE_URL) ?? [];
  const ofHeader = headerTexts(WEBHOOK_HEADER.trim());
  for (const text of [...WEBHOOK_SECRET.split('\n'), ...ofHeader, API_KEY, DATABASE_URL, password])
    hidden.add(text.trim());
}

/**
 * The texts that show the value of a header: all of it, and the credentials after a scheme such as Bearer. An excerpt has single spaces, and
 * JSON and URLs have escapes.
 */
export function headerTexts(value: string): string[] {
  const [, credentials = value] = /^\S+ +(.*)$/.exec(value) ?? [];
  const texts = [value, credentials].flatMap((text) => [text, text.replaceAll(/ +/g, ' ')]);
  return [...new Set(texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1), encoded(text)]))];
}

/** Without what no header contains: a lone surrogate cannot be encoded. */
const encoded = (text: string): string => encodeURIComponent(text.replaceAll(/[^ -~]/g, ''));

/**
 * The secrets, from a file or from `WEBHOOK_SECRET`, one in a line. White space is kept, because it can be what is wrong.
 *
 * @throws {UsageError} if there is none
 */
export async function readSecrets(shell: Shell, options: SecretOptions): Promise<string[]> {
  const { 'secret-file': secretFile } = options;
  const text =
    secretFile === undefined
      ? (await readSettings(shell, options))['WEBHOOK_SECRET']
      : (await readInput(shell, secretFile, textMax, '--secret-file')).toString();
  const secrets = (text ?? '').split(/\r?\n/).filter((line) => line.trim() !== '');
  for (const secret of secrets) shell.hidden.add(secret.trim());
  if (secrets.length > 10) throw new UsageError(`there are ${secrets.length} secrets; at most 10 are allowed.`);
  if (secrets.length > 0) return secrets;
  throw new UsageError('there is no secret. Set WEBHOOK_SECRET, or pass --env-file or --secret-file.');
}

/** Like `readSecrets`, for signing. */
export async function readValidSecrets(shell: Shell, options: SecretOptions): Promise<[string, ...string[]]> {
  const [first = '', ...others] = (await readSecrets(shell, options)).map((secret) => secret.trim());
  for (const secret of [first, ...others]) {
    const problem = webhookSecretProblem(secret);
    if (problem !== null) throw new UsageError(problem);
  }
  return [first, ...others];
}

/**
 * What the names of the service's own headers begin with. Undefined if it is not set.
 *
 * @throws {UsageError} if it is malformed
 */
export async function readPrefix(shell: Shell, options: SecretOptions): Promise<string | undefined> {
  const prefix = (await readSettings(shell, options))['HEADER_PREFIX']?.trim() || undefined;
  const problem = prefix === undefined ? null : prefixProblem(prefix);
  if (problem !== null) throw new UsageError(`HEADER_PREFIX ${problem}`);
  return prefix;
}

/** @throws {CommandError} if a path cannot be written */
export async function written<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be written: ${String(field(error, 'code'))}.`, 1, { cause: error });
  }
}
