import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { field, messageOf } from '../field.ts';
import type { EventName } from '../kept-events.ts';
import { type Api, ApiError, isLike, openApi, orNull } from './api.ts';
import { headerOptions, readHeader } from './header-option.ts';
import { environmentWithout, readSettings, readValidSecrets, written } from './input.ts';
import { CommandError, parse, secretOptions, type Shell, UsageError } from './shell.ts';
import { excerpt, parsedJson } from './text.ts';
import { readTimeout } from './timeout-option.ts';

const subscriptionExample = { id: '', callbackUrl: '', status: '', eventTypes: [{ type: '', version: '' }] };
const headerExample = { requestHeaderName: orNull(''), headerState: orNull('') };
type Subscription = typeof subscriptionExample & { timeoutSeconds?: number } & Partial<typeof headerExample>;

export async function subscribe(args: readonly string[], shell: Shell): Promise<number> {
  const names = ['url', 'module', 'subscription', 'new-secret-file', 'timeout'] as const;
  const texts = [...names, ...headerOptions, ...secretOptions] as const;
  const { values, positionals } = parse(args, texts, ['check', 'yes']);
  const { url, module, subscription, check = false, yes = false } = values;
  if (positionals.length > 0) throw new UsageError('subscribe takes no argument.');
  if (url === undefined || module === undefined) throw new UsageError('pass --url and --module.');
  if (check && yes) throw new UsageError('--check changes nothing: do not pass --yes.');
  if (!URL.canParse(url) || !/^https?:\/\//.test(url))
    throw new UsageError('--url must be an absolute URL with https.');
  const timeoutSeconds = readTimeout(values.timeout);
  const header = await readHeader(shell, values);
  const settings = await readSettings(shell, values);
  const api = await openApi(shell, values, header);
  const pins = await pinsOfModule(module, settings);
  await checkPins(api, pins);
  const { href } = new URL(url);
  const [hasTimeout, hasHeader] = [timeoutSeconds !== undefined, header !== undefined];
  const wanted: Wanted = { url: href, id: subscription, hasTimeout, hasHeader };
  const present = await find(api, wanted).catch((error: unknown) => {
    throw explained(error, wanted);
  });
  const changes = changesOf(present?.eventTypes ?? [], pins);
  const { callbackUrl } = present ?? { callbackUrl: href };
  if (callbackUrl !== href) changes.unshift(`~ ${callbackUrl} -> ${href}`);
  const { timeoutSeconds: presentSeconds = 5 } = present ?? {};
  if (timeoutSeconds !== undefined && timeoutSeconds !== presentSeconds)
    changes.push(`~ timeout ${presentSeconds} s -> ${timeoutSeconds} s`);
  if (header !== undefined) changes.push(...headerChanges(present, header.name, check));
  else if (originOf(callbackUrl) !== originOf(href)) changes.push(...(await droppedHeader(api, wanted)));
  shell.out(`${present?.id ?? 'a new subscription'}\n`);
  for (const change of changes) shell.out(`  ${excerpt(change, 500)}\n`);
  if (changes.length === 0) {
    shell.out(`It has exactly what the handlers need. Its status is ${excerpt(present?.status ?? '')}.\n`);
    return 0;
  }
  if (check) throw new CommandError('the subscription differs from the handlers.');
  if (!yes) {
    shell.out('Nothing was changed. Pass --yes to change it.\n');
    return 0;
  }
  const pinned = { callbackUrl: url, eventTypes: pins, ...(timeoutSeconds && { timeoutSeconds }) };
  const input = { ...pinned, ...(header && { requestHeader: header }) };
  if (present !== null) {
    await api.mutate('updateWebhookSubscription', '', {}, { ...input, id: present.id });
    shell.out('Updated.\n');
    return 0;
  }
  const file = values['new-secret-file'];
  const [webhookSecret] = file === undefined ? await readValidSecrets(shell, values) : [generateWebhookSecret()];
  shell.hidden.add(webhookSecret);
  // The receiver needs it for the handshake, and no query returns it.
  if (file !== undefined) await written(file, () => writeFile(file, `${webhookSecret}\n`, { mode: 0o600, flag: 'wx' }));
  try {
    const example = { webhookSubscription: { id: '' } };
    const selected = 'webhookSubscription { id }';
    const changed = { ...input, webhookSecret };
    const created = await api.mutate('createWebhookSubscription', selected, example, changed);
    shell.out(`Created ${excerpt(created.webhookSubscription.id)}.\n`);
    return 0;
  } catch (error) {
    if (file === undefined) throw error;
    const exitCode = error instanceof CommandError ? error.exitCode : 1;
    const isRefused = error instanceof ApiError ? error.code !== '' && exitCode !== 4 : exitCode === 1;
    if (!isRefused)
      throw new CommandError(`${messageOf(error)} The subscription may exist: ${file} has its secret.`, exitCode);
    await rm(file, { force: true });
    throw error;
  }
}

/** @throws {CommandError} if the interface does not serve a version */
async function checkPins(api: Api, pins: readonly EventName[]): Promise<void> {
  const query = '{ webhookEventTypes { type versions { version } } }';
  const example = { webhookEventTypes: [{ type: '', versions: [{ version: '' }] }] };
  const { webhookEventTypes } = await api.request(query, {}, example);
  for (const { type, version } of pins) {
    const known = webhookEventTypes.find((each) => each.type === type);
    if (known === undefined)
      throw new CommandError(`there is a handler for ${type}, and this interface has no such event type.`);
    const served = known.versions.map((each) => each.version);
    if (!served.includes(version))
      throw new CommandError(`${type} ${version} is retired or does not exist. There are: ${served.join(', ')}.`);
  }
}

interface Wanted {
  readonly url: string;
  readonly id: string | undefined;
  /** Reads the timeout. */
  readonly hasTimeout: boolean;
  /** Reads the name of the header. */
  readonly hasHeader: boolean;
}

/** @throws {ApiError} with `isUnknownField` if the interface is of a release that does not know an optional field */
async function find(api: Api, { url, id, hasTimeout, hasHeader }: Wanted): Promise<Subscription | null> {
  const optional = { ...(hasTimeout && { timeoutSeconds: 0 }), ...(hasHeader && headerExample) };
  const fields = `id callbackUrl status eventTypes { type version } ${Object.keys(optional).join(' ')}`;
  // An account has at most 20.
  const query = `{ webhookSubscriptions(first: 100) { nodes { ${fields} } } }`;
  const each: Subscription = { ...subscriptionExample, ...optional };
  const example = { webhookSubscriptions: { nodes: [each] } };
  const { webhookSubscriptions } = await api.request(query, {}, example);
  const found = webhookSubscriptions.nodes.filter(
    (node) => (id ?? node.id) === node.id && (id || node.callbackUrl === url),
  );
  if (found.length > 1) throw new UsageError(`several subscriptions have this URL. Pass --subscription <gid>.`);
  if (found.length === 0 && id !== undefined) throw new CommandError('you have no subscription with this identifier.');
  return found[0] ?? null;
}

const isUnknownField = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'GRAPHQL_VALIDATION_FAILED';

/** Says which option needs a later release of Deedwire. */
function explained(error: unknown, { hasTimeout, hasHeader }: Wanted): unknown {
  const options = [...(hasTimeout ? ['--timeout'] : []), ...(hasHeader ? ['--header'] : [])];
  if (!isUnknownField(error) || options.length === 0) return error;
  return new CommandError(`this interface does not know ${options.join(' or ')} yet: ${messageOf(error)}`);
}

/** No query returns the value of a header, so it is set again, unless the command only checks. */
function headerChanges(present: Subscription | null, name: string, isChecked: boolean): string[] {
  const { requestHeaderName, headerState } = present ?? {};
  if (!requestHeaderName) return [`+ header ${name}`];
  if (requestHeaderName.toLowerCase() !== name.toLowerCase()) return [`~ header ${requestHeaderName} -> ${name}`];
  if (headerState === 'DROPPED') return [`~ header ${name}, which Deedwire does not send at present`];
  return isChecked ? [] : [`~ value of the header ${name}`];
}

/** An interface sends the header of a subscription to one origin only. Earlier releases of Deedwire have none. */
async function droppedHeader(api: Api, wanted: Wanted): Promise<string[]> {
  try {
    const { requestHeaderName: name, headerState } = (await find(api, { ...wanted, hasHeader: true })) ?? {};
    return name && headerState !== 'DROPPED' ? [`- header ${name}. To send it to the new URL, pass --header`] : [];
  } catch (error) {
    if (isUnknownField(error)) return [];
    throw error;
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

function changesOf(present: readonly EventName[], needed: readonly EventName[]): string[] {
  const [old, wanted] = [present, needed].map((all) => new Map(all.map(({ type, version }) => [type, version])));
  return [...new Map([...(old ?? []), ...(wanted ?? [])]).keys()].flatMap((type) => {
    const [before, after] = [old?.get(type), wanted?.get(type)];
    if (before === after) return [];
    if (before === undefined) return [`+ ${type} ${after}`];
    return after === undefined ? [`- ${type} ${before}`] : [`~ ${type} ${before} -> ${after}`];
  });
}

/** Runs in the child process. What the module prints does not matter. Servers of each protocol listen as those of `net`. */
const script = `
import { writeSync } from 'node:fs';
import { Server } from 'node:net';
const answer = (content) => { writeSync(3, JSON.stringify(content)); process.exit(); };
Server.prototype.listen = () => answer({ problem: 'it listens. Export the receiver from a module that starts no server' });
try {
  const exported = Object.values(await import(process.argv[1]));
  const receivers = [...new Set(exported.filter((each) => typeof each?.subscription === 'function'))];
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (receivers.length !== 1) answer({ problem: 'it exports ' + receivers.length + ' receivers, and needs one' });
  answer({ pins: receivers[0].subscription() });
} catch (error) {
  answer({ problem: String(error?.message ?? error) });
}`;

const importMs = 10_000;

/** Imports the module apart, because it can have any effect, and never end. */
async function pinsOfModule(module: string, settings: Shell['env']): Promise<EventName[]> {
  const env = {
    // The module needs no right to change subscriptions, and no header of a gateway.
    ...environmentWithout(settings, 'API_KEY', 'WEBHOOK_HEADER'),
    WEBHOOK_SECRET: settings['WEBHOOK_SECRET'] || generateWebhookSecret(),
  };
  const href = pathToFileURL(resolve(module)).href;
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '--eval', script, href], {
    // A pipeline that checks production has no secret, and the module may need one.
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    timeout: importMs,
    killSignal: 'SIGKILL',
  });
  const output = child.stdio[3];
  let answer = '';
  output?.on('data', (chunk) => (answer += String(chunk)));
  // A process that the module started can keep it open.
  child.once('exit', () => setTimeout(() => output?.destroy(), 100));
  const [, signal] = await once(child, 'close');
  if (child.killed) throw new CommandError(`${module} was not imported within ${importMs / 1_000} s.`);
  const content = parsedJson(answer);
  const problem = field(content, 'problem');
  const ended = `it ended the process${signal === null ? '' : ` with ${signal}`}`;
  if (content === undefined || problem !== undefined)
    throw new CommandError(`${module}: ${excerpt(messageOf(problem ?? ended), 300)}.`);
  const pins = field(content, 'pins');
  if (isLike([{ type: '', version: '' }], pins) && pins.length > 0) return pins;
  throw new CommandError(`${module}: its receiver has no handlers.`);
}
