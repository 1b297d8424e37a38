import { setTimeout as sleep } from 'node:timers/promises';
import { field, messageOf } from '../field.ts';
import { type Api, ApiError, openApi, orNull } from './api.ts';
import { deliveryHeaders } from './delivery.ts';
import { readSettings, readValidSecrets } from './input.ts';
import { type ListenState, newState, openState, type StateFile } from './listen-state.ts';
import { send } from './send.ts';
import { CommandError, parse, secretOptions, type Shell, UsageError } from './shell.ts';
import { readTarget, type Target } from './target.ts';
import { terminalText, wrap } from './text.ts';

/** What `--json` prints, one in a line. The text for people is beside it. */
interface Line {
  readonly event: 'api-unavailable' | 'delivered' | 'end' | 'gap' | 'ready' | 'receiver-unavailable' | 'skipped';
  readonly [name: string]: unknown;
}

const pageQuery = `query ($id: ID!, $after: String, $waitSeconds: Int) {
  webhookEvents(subscriptionId: $id, first: 20, after: $after, waitSeconds: $waitSeconds) {
    edges { cursor sequence node { deliveryId type version isTest payload } }
  }
}`;
// An event that could not be rendered has no payload.
const nodeExample = { deliveryId: '', type: '', version: '', isTest: false, payload: orNull('') };
const eventExample = { cursor: '', sequence: 0, node: nodeExample };
type ListenedEvent = typeof eventExample;

/** Reads the events of a listener, and sends them to a receiver as a worker does. Ends after SIGINT with 0. */
export async function listen(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = parse(args, ['to', 'types', ...secretOptions], ['allow-remote', 'retry', 'json']);
  if (positionals.length > 0) throw new UsageError('listen takes no argument. Pass --to <receiver>.');
  if (values.to === undefined) throw new UsageError('pass --to <receiver>.');
  const target = await readTarget(values.to, values['allow-remote'], shell.env);
  const api = await openApi(shell, values);
  const settings = await readSettings(shell, values);
  const isGiven = values['secret-file'] !== undefined || (settings['WEBHOOK_SECRET'] ?? '') !== '';
  const [given] = isGiven ? await readValidSecrets(shell, values) : [];
  const types = values.types?.split(',') ?? [];
  const file = await openState(shell, [api.url, api.organizationId, target.url.href, ...types]);
  const signed = given === undefined ? ` Signed with the secret in ${file.secretFile}.` : '';
  const print = (line: Line, text: string): void =>
    shell.out(values.json === true ? `${terminalText(JSON.stringify(line))}\n` : wrap(text));
  try {
    const { retry = false } = values;
    await new Listener({ shell, api, file, target, types, retry, secret: given ?? file.secret, signed, print }).run();
    return 0;
  } finally {
    await file.release();
  }
}

interface ListenOptions {
  readonly shell: Shell;
  readonly api: Api;
  readonly file: StateFile;
  readonly target: Target;
  /** All of the interface if it is empty. */
  readonly types: readonly string[];
  /** Sends an event that the receiver refuses again, and nothing else meanwhile. */
  readonly retry: boolean;
  readonly secret: string;
  readonly signed: string;
  readonly print: (line: Line, text: string) => void;
}

const waitSeconds = 20;
const backoffMaxMs = 30_000;

class Listener {
  readonly #options: ListenOptions;
  #state: ListenState;
  #accepted = 0;
  #refused = 0;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.#state = options.file.state;
  }

  get #isEnding(): boolean {
    return this.#options.shell.signal.aborted;
  }

  async run(): Promise<void> {
    const { print, signed, target } = this.#options;
    const { href: url } = target.url;
    await this.#findListener();
    const { listenerId, sequence } = this.#state;
    const place = sequence === 0 ? '' : ` Resumed after #${sequence}.`;
    const resumedAfter = sequence === 0 ? null : sequence;
    print({ event: 'ready', listenerId, url, resumedAfter }, `Ready: events go to ${url}.${place}${signed}`);
    for (let failures = 0; !this.#isEnding;)
      try {
        const events = await this.#page();
        if (failures > 0) print({ event: 'ready', listenerId }, 'The API responds again. No event is lost.');
        failures = 0;
        for (const event of events) if (!(await this.#deliver(event))) break;
      } catch (error) {
        if (this.#isEnding) break;
        if (error instanceof ApiError && error.code === 'CURSOR_EXPIRED') await this.#reportGap(error);
        else if (!(error instanceof CommandError) || error.exitCode !== 4) throw error;
        else {
          const message = messageOf(error);
          if (failures === 0) print({ event: 'api-unavailable', message }, `${message} Retrying; events are kept.`);
          await this.#pause(failures);
          failures += 1;
        }
      }
    const [accepted, refused] = [this.#accepted, this.#refused];
    print({ event: 'end', accepted, refused }, `${accepted} accepted, ${refused} refused.`);
  }

  /** Uses the listener of the run before, or creates one. */
  async #findListener(): Promise<void> {
    const { listenerId, sequence, savedAt } = this.#state;
    const query = '{ webhookListeners { id } }';
    const { webhookListeners } = await this.#options.api.request(query, {}, { webhookListeners: [{ id: '' }] });
    if (webhookListeners.some(({ id }) => id === listenerId)) return;
    if (listenerId !== null) {
      const text = `The listener has expired. Events after #${sequence} (${savedAt}) are lost.`;
      this.#options.print({ event: 'gap', from: sequence + 1, to: null, since: savedAt }, text);
    }
    await this.#save(listenerId === null ? this.#state : newState());
    const created = await this.#options.api.mutate(
      'createWebhookListener',
      'webhookListener { id }',
      { webhookListener: { id: '' } },
      { eventTypes: await this.#eventTypes(), idempotencyKey: this.#state.key },
    );
    await this.#save({ ...this.#state, listenerId: created.webhookListener.id });
  }

  async #eventTypes(): Promise<{ type: string }[]> {
    const { types } = this.#options;
    if (types.length > 0) return types.map((type) => ({ type }));
    const query = '{ webhookEventTypes { type versions { status } } }';
    const example = { webhookEventTypes: [{ type: '', versions: [{ status: '' }] }] };
    const { webhookEventTypes } = await this.#options.api.request(query, {}, example);
    const current = webhookEventTypes.filter(({ versions }) => versions.some(({ status }) => status === 'CURRENT'));
    return current.map(({ type }) => ({ type }));
  }

  async #page(): Promise<ListenedEvent[]> {
    const variables = { id: this.#state.listenerId, after: this.#state.cursor, waitSeconds };
    const example = { webhookEvents: orNull({ edges: [eventExample] }) };
    const { webhookEvents } = await this.#options.api.request(
      pageQuery,
      variables,
      example,
      (waitSeconds + 30) * 1_000,
    );
    // It expired while the API was unavailable.
    if (webhookEvents === null) await this.#findListener();
    return webhookEvents?.edges ?? [];
  }

  /** @returns false if the command ends */
  async #deliver(event: ListenedEvent): Promise<boolean> {
    const { cursor, sequence, node } = event;
    const { deliveryId, type, version, payload } = node;
    if (payload === null) {
      const text = `#${sequence} ${type} ${version} has no payload. It was never sent.`;
      this.#options.print({ event: 'skipped', sequence, type, version, deliveryId }, text);
    } else
      for (let attempt = 1; !(await this.#isDone(event, payload, attempt)); attempt += 1) {
        await this.#pause(attempt);
        if (this.#isEnding) return false;
      }
    await this.#save({ ...this.#state, cursor, sequence });
    return !this.#isEnding;
  }

  /** Whether the receiver answered as it has to. Without an answer, it does not run, or stopped meanwhile. */
  async #isDone({ sequence, node }: ListenedEvent, payload: string, attempt: number): Promise<boolean> {
    const { api, print, retry, secret, target } = this.#options;
    const { deliveryId, type, version, isTest } = node;
    const body = Buffer.from(payload);
    const signing = { prefix: api.prefix, secret, id: deliveryId, isTest };
    const headers = deliveryHeaders(body, signing, node, {
      'subscription-id': this.#state.listenerId ?? '',
      sequence: String(sequence),
      attempt: String(attempt),
    });
    const { status, problem, durationMs } = await send(target, { headers, body: [body] });
    const name = `#${sequence} ${type} ${version}`;
    if (status === null) {
      if (attempt === 1) print({ event: 'receiver-unavailable', problem }, `${problem}. Retrying ${name}.`);
      return false;
    }
    const result = { sequence, type, version, deliveryId, attempt, status, durationMs };
    print({ event: 'delivered', ...result }, `${name} -> ${status} in ${durationMs} ms`);
    const isAccepted = status >= 200 && status < 300;
    if (isAccepted) this.#accepted += 1;
    else this.#refused += 1;
    return isAccepted || !retry;
  }

  /** Goes on at the first event that is kept. */
  async #reportGap(error: ApiError): Promise<void> {
    const first = Number(field(error.extensions, 'firstKeptSequence'));
    const from = this.#state.sequence + 1;
    const text = `Events from #${from}${first > 0 ? ` to #${first - 1}` : ''} are no longer kept.`;
    this.#options.print({ event: 'gap', from, to: first > 0 ? first - 1 : null }, text);
    await this.#save({ ...this.#state, cursor: null });
  }

  async #save(state: ListenState): Promise<void> {
    this.#state = await this.#options.file.save(state);
  }

  async #pause(failures: number): Promise<void> {
    const ms = Math.min(1_000 * 2 ** failures, backoffMaxMs);
    await sleep(ms, null, { signal: this.#options.shell.signal }).catch(() => {});
  }
}
