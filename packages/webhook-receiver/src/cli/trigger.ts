import { field } from '../field.ts';
import { openApi } from './api.ts';
import { deliveryHeaders, type EventBody, sampleEvent } from './delivery.ts';
import { type InstalledEvents, loadEvents } from './event-package.ts';
import { checkStandardInput, readInput, readPrefix, readValidSecrets, type SecretOptions } from './input.ts';
import { send } from './send.ts';
import { CommandError, parse, secretOptions, type Shell, UsageError } from './shell.ts';
import { readTarget } from './target.ts';
import { excerpt, parsedJson, textField } from './text.ts';

const bodyMax = 256_000;

export async function trigger(args: readonly string[], shell: Shell): Promise<number> {
  const texts = ['to', 'version', 'events', 'set', 'file', 'subscription', ...secretOptions] as const;
  const { values, positionals, all } = parse(args, texts, ['allow-remote']);
  const { to, version, file, subscription } = values;
  const [set, [type]] = [all('set'), positionals];
  if (positionals.length > 1) throw new UsageError('trigger sends one event type.');
  if (subscription !== undefined) {
    if ([to, version, values.events, file].some((each) => each !== undefined) || set.length > 0)
      throw new UsageError(
        '--subscription sends sample data: pass neither --to, --version, --events, --set nor --file.',
      );
    return sendTest(shell, values, subscription, type);
  }
  if (to === undefined) throw new UsageError('pass --to <receiver>, or --subscription <gid>.');
  if (type !== undefined && file !== undefined)
    throw new UsageError('pass the event type, or --file with a whole body, not both.');
  checkStandardInput(file, values['secret-file']);
  const target = await readTarget(to, values['allow-remote'], shell.env);
  const [secret, nextSecret] = await readValidSecrets(shell, values);
  const events = values.events === undefined ? null : await loadEvents(values.events);
  const body =
    file === undefined
      ? Buffer.from(JSON.stringify(changed(sampleEvent(events, type ?? 'webhook.test', version), set)))
      : await readInput(shell, file, bodyMax);
  if (file !== undefined && (set.length > 0 || version !== undefined))
    throw new UsageError('--file sends the file unchanged: pass neither --set nor --version.');
  const event = checkedEvent(events, body);
  const signing = { secret, nextSecret, prefix: await readPrefix(shell, values) };
  const answer = await send(target, { headers: deliveryHeaders(body, signing, event), body: [body] });
  if (answer.status === null) throw new CommandError(`the receiver did not respond: ${answer.problem}`);
  const content = excerpt(answer.body);
  shell.out(`${answer.status} in ${answer.durationMs} ms${content === '' ? '' : `: ${content}`}\n`);
  if (answer.status >= 200 && answer.status < 300) return 0;
  throw new CommandError('the receiver refuses the event: Deedwire would retry it.');
}

/**
 * @throws {UsageError} unless Deedwire could send the body: the contract of its type and version accepts it. Without the package that has
 * the contract, the body must have the members of every event
 */
function checkedEvent(events: InstalledEvents | null, body: Uint8Array): Pick<EventBody, 'type' | 'version'> {
  if (events === null) {
    const value = parsedJson(Buffer.from(body).toString());
    const [type, version] = [textField(value, 'type'), textField(value, 'version')];
    if (type !== '' && version !== '') return { type, version };
    throw new UsageError('the body must be an event: JSON with a type, a version and data.');
  }
  const parsed = events.parseWebhookBody(body);
  if (parsed.kind === 'event') return parsed.event;
  throw new UsageError(
    parsed.kind === 'malformed'
      ? `Deedwire sends no such body: ${excerpt(parsed.problems.join('; '), 400)}`
      : 'Deedwire sends no event of this type and version.',
  );
}

/** @throws {UsageError} if the sample has no such field */
function changed(event: EventBody, assignments: readonly string[]): EventBody {
  for (const assignment of assignments) {
    const [, path = '', text = ''] = /^([\w.]+)=(.*)$/s.exec(assignment) ?? [];
    const names = path.split('.');
    const last = names.pop() ?? '';
    const holder = names.reduce<unknown>(own, event);
    const present = own(holder, last);
    if (typeof holder !== 'object' || holder === null || present === undefined) {
      const [example = []] = Object.entries(event.data).filter(([, value]) => typeof value === 'string');
      throw new UsageError(
        `--set ${excerpt(path || assignment)}: ${event.type} has no such field. Example: data.${example.join('=')}`,
      );
    }
    Reflect.set(holder, last, valueOf(text, present));
  }
  return event;
}

function own(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? field(value, name) : undefined;
}

/** A text stays one where the sample has one. */
function valueOf(text: string, present: unknown): unknown {
  if (text === 'null') return null;
  if (typeof present === 'string') return text;
  return parsedJson(text) ?? text;
}

async function sendTest(shell: Shell, options: SecretOptions, id: string, type?: string): Promise<number> {
  const api = await openApi(shell, options);
  const input = { subscriptionId: id, ...(type !== undefined && { eventType: type }) };
  const sent = await api.mutate('sendTestWebhookEvent', 'webhookEventId', { webhookEventId: '' }, input);
  shell.out(`Deedwire sends ${excerpt(sent.webhookEventId)}.\n`);
  return 0;
}
