import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { field } from '../field.ts';
import { isLike, orNull } from './api.ts';
import { written } from './input.ts';
import { CommandError, type Shell } from './shell.ts';
import { parsedJson } from './text.ts';

export interface ListenState {
  /** Makes the creation of the listener safe to repeat. */
  readonly key: string;
  readonly listenerId: string | null;
  /** Of the last event that was sent. Null before the first one. */
  readonly cursor: string | null;
  readonly sequence: number;
  readonly savedAt: string;
}

export interface StateFile {
  readonly state: ListenState;
  readonly secretFile: string;
  readonly secret: string;
  save(state: ListenState): Promise<ListenState>;
  release(): Promise<void>;
}

const example: ListenState = { key: '', listenerId: orNull(''), cursor: orNull(''), sequence: 0, savedAt: '' };

export function newState(): ListenState {
  const key = generateWebhookSecret().slice(6, 38);
  return { key, listenerId: null, cursor: null, sequence: 0, savedAt: '' };
}

/**
 * Opens the state of one account, receiver and list of types, under `$XDG_STATE_HOME/deedwire`.
 *
 * @throws {CommandError} if another process uses it, or the disk cannot be written
 */
export async function openState(shell: Shell, identity: readonly string[]): Promise<StateFile> {
  const home = shell.env['XDG_STATE_HOME'] ?? '';
  const folder = join(home === '' ? join(homedir(), '.local/state') : home, 'deedwire');
  const name = createHash('sha256').update(identity.join('\n')).digest('hex').slice(0, 16);
  const file = join(folder, `listen-${name}.json`);
  const lock = `${file}.lock`;
  const secretFile = join(folder, 'secret');
  await written(folder, () => mkdir(folder, { recursive: true, mode: 0o700 }));
  await written(lock, () => acquire(lock));
  try {
    const content = await textOf(file);
    const state = content === '' ? newState() : parsedJson(content);
    if (!isLike(example, state))
      throw new CommandError(`${file} is damaged. Remove it to start again: events since the last run are lost.`);
    const secret = await written(secretFile, () => readSecret(secretFile));
    shell.hidden.add(secret);
    const save = async (changed: ListenState): Promise<ListenState> => {
      const saved = { ...changed, savedAt: new Date().toISOString() };
      await written(file, () => replace(file, `${JSON.stringify(saved)}\n`));
      return saved;
    };
    return { state, secretFile, secret, save, release: () => rm(lock, { force: true }) };
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  }
}

/** Empty if there is no file: one that cannot be read says which events were sent. */
const textOf = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return '';
    throw new CommandError(`${file} cannot be read: ${String(field(error, 'code'))}.`, 1, { cause: error });
  });

/** A process that is killed leaves the old or the new content. */
async function replace(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Processes that find the lock of one that was killed take it one after the other. */
async function acquire(lock: string): Promise<void> {
  const turn = `${lock}.turn`;
  try {
    await writeFile(turn, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (field(error, 'code') !== 'EEXIST') throw error;
    throw new CommandError(`another process starts to listen for this receiver. If not, remove ${turn}.`);
  }
  try {
    const holder = Number(await textOf(lock));
    // A container gives each run the same number.
    if (holder > 0 && holder !== process.pid && isAlive(holder))
      throw new CommandError(`process ${holder} listens for this receiver already. If not, remove ${lock}.`);
    await writeFile(lock, String(process.pid), { mode: 0o600 });
  } finally {
    await rm(turn, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return field(error, 'code') === 'EPERM';
  }
}

async function readSecret(file: string): Promise<string> {
  const present = (await textOf(file)).trim();
  if (present !== '') return present;
  const secret = generateWebhookSecret();
  await replace(file, `${secret}\n`);
  return secret;
}
