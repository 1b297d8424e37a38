import { setTimeout as sleep } from 'node:timers/promises';
import { field, messageOf } from '../field.ts';
import { type Api, ApiError, openApi } from './api.ts';
import { deliveryHeaders } from './delivery.ts';
import { readSettings, readValidSecrets } from './input.ts';
import { type ListenState, newState, openState, type StateFile } from './listen-state.ts';
import { type Answer, send } from './send.ts';
import { CommandError, flag, parse, sendOptions, type Shell, UsageError, valued } from './shell.ts';
import { readTarget } from './target.ts';
import { terminalText } from './terminal-text.ts';
import { wrap } from './text.ts';

/** What `--json` prints, one in a line. The text for people is beside it. */
interface Line {
  readonly event: 'api-unavailable' | 'delivered' | 'end' | 'gap' | 'ready' | 'receiver-unavailable' | 'skipped';
  readonly [name: string]: unknown;
}

interface Edge {
  readonly cursor: string;
  readonly sequence: number;
  readonly node: EventNode;
}

type ListenedEvent = EventNode & Omit<Edge, 'node'>;

interface EventNode {
  readonly deliveryId: string;
  readonly type: string;
  readonly version: string;
  readonly isTest: boolean;
  /** Null if it could not be rendered. */
  readonly payload: string | null;
}

/** Reads the events of a listener, and sends them to a receiver as a worker does. Ends after SIGINT with 0. */
export async function listen(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = parse(args, { to: valued, types: valued, retry: flag, json: flag, ...sendOptions });
  if (positionals.length > 0) throw new UsageError('listen takes no argument. Pass --to <receiver>.');
  if (values.to === undefined) throw new UsageError('pass --to <receiver>.');
  const url = await readTarget(values.to, values['allow-remote'] === true);
  const api = await openApi(shell, values);
  const settings = await readSettings(shell, values);
  const isGiven = values['secret-file'] !== undefined || (settings['WEBHOOK_SECRET'] ?? '') !== '';
  const [given] = isGiven ? await readValidSecrets(shell, values) : [];
  const types = values.types?.split(',') ?? [];
  const file = await openState(shell, [api.url, api.organizationId, url.href, ...types]);
  const print = (line: Line, text: string): void =>
    shell.out(values.json === true ? `${terminalText(JSON.stringify(line))}\n` : wrap(text));
  try {
    const listener = new Listener(shell, api, file, { url, types, retry: values.retry === true, secret: given, print });
    await listener.run();
    return 0;
  } finally {
    await file.release();
  }
}

interface ListenOptions {
  readonly url: URL;
  /** All of the interface if it is empty. */
  readonly types: readonly string[];
  /** Sends an event that the receiver refuses again, and nothing else meanwhile. */
  readonly retry: boolean;
  readonly secret: string | undefined;
  readonly print: (line: Line, text: string) => void;
}

const waitSeconds = 20;
const backoffMaxMs = 30_000;

class Listener {
  readonly #shell: Shell;
  readonly #api: Api;
  readonly #file: StateFile;
  readonly #options: ListenOptions;
  #state: ListenState;
  #accepted = 0;
  #refused = 0;

  constructor(shell: Shell, api: Api, file: StateFile, options: ListenOptions) {
    [this.#shell, this.#api, this.#file, this.#options] = [shell, api, file, options];
    this.#state = file.state;
  }

  get #isEnding(): boolean {
    return this.#shell.signal.aborted;
  }

  async run(): Promise<void> {
    const { url, secret, print } = this.#options;
    await this.#findListener();
    const { listenerId, sequence } = this.#state;
    const signed = secret === undefined ? ` Signed with the secret in ${this.#file.secretFile}.` : '';
    const place = sequence === 0 ? '' : ` Resumed after #${sequence}.`;
    print(
      { event: 'ready', listenerId, url: url.href, resumedAfter: sequence === 0 ? null : sequence },
      `Ready: events go to ${url.href}.${place}${signed}`,
    );
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
    const { webhookListeners } = await this.#api.request<{ webhookListeners: readonly { id: string }[] }>(
      '{ webhookListeners { id } }',
      {},
    );
    if (webhookListeners.some(({ id }) => id === listenerId)) return;
    if (listenerId !== null) {
      const text = `The listener has expired. Events after #${sequence} (${savedAt}) are lost.`;
      this.#options.print({ event: 'gap', from: sequence + 1, to: null, since: savedAt }, text);
      await this.#save(newState());
    } else await this.#save(this.#state);
    const input = { eventTypes: await this.#eventTypes(), idempotencyKey: this.#state.key };
    const created = await this.#api.mutate<{ webhookListener: { id: string } }>(
      'createWebhookListener',
      'webhookListener { id }',
      input,
    );
    await this.#save({ ...this.#state, listenerId: created.webhookListener.id });
  }

  async #eventTypes(): Promise<{ type: string }[]> {
    const { types } = this.#options;
    if (types.length > 0) return types.map((type) => ({ type }));
    const { webhookEventTypes } = await this.#api.request<{
      webhookEventTypes: readonly { type: string; versions: readonly { status: string }[] }[];
    }>('{ webhookEventTypes { type versions { status } } }', {});
    const current = webhookEventTypes.filter(({ versions }) => versions.some(({ status }) => status === 'CURRENT'));
    return current.map(({ type }) => ({ type }));
  }

  async #page(): Promise<ListenedEvent[]> {
    const query = `query ($id: ID!, $after: String) {
      webhookEvents(subscriptionId: $id, first: 20, after: $after, waitSeconds: ${waitSeconds}) {
        edges { cursor sequence node { deliveryId type version isTest payload } }
      }
    }`;
    const { listenerId, cursor } = this.#state;
    const variables = { id: listenerId, after: cursor };
    const { webhookEvents } = await this.#api.request<{ webhookEvents: { edges: readonly Edge[] } | null }>(
      query,
      variables,
      (waitSeconds + 30) * 1_000,
    );
    // It expired while the API was unavailable.
    if (webhookEvents === null) await this.#findListener();
    return (webhookEvents?.edges ?? []).map(({ cursor: after, sequence, node }) => ({
      cursor: after,
      sequence,
      ...node,
    }));
  }

  /** @returns false if the command ends before the event is passed */
  async #deliver(event: ListenedEvent): Promise<boolean> {
    const { cursor, sequence, type, version, deliveryId } = event;
    const { print, retry } = this.#options;
    const name = `#${sequence} ${type} ${version}`;
    for (let attempt = 1; !this.#isEnding; attempt += 1) {
      if (event.payload === null) {
        print({ event: 'skipped', sequence, type, version, deliveryId }, `${name} has no payload. It was never sent.`);
      } else {
        const answer = await this.#send(event, event.payload, attempt);
        const { status, problem, durationMs } = answer;
        const isAccepted = status !== null && status >= 200 && status < 300;
        if (unreachable.has(answer.code)) {
          if (attempt === 1) print({ event: 'receiver-unavailable', problem }, `${problem}. Retrying ${name}.`);
          await this.#pause(attempt);
          continue;
        }
        print(
          { event: 'delivered', sequence, type, version, deliveryId, attempt, status, problem, durationMs },
          `${name} -> ${status ?? problem} in ${durationMs} ms`,
        );
        if (isAccepted) this.#accepted += 1;
        else this.#refused += 1;
        if (!isAccepted && retry) {
          await this.#pause(attempt);
          continue;
        }
      }
      await this.#save({ ...this.#state, cursor, sequence });
      return true;
    }
    return false;
  }

  #send(
    { deliveryId: id, type, version, sequence, isTest }: ListenedEvent,
    payload: string,
    attempt: number,
  ): Promise<Answer> {
    const body = Buffer.from(payload);
    const signed = deliveryHeaders(
      body,
      { secret: this.#options.secret ?? this.#file.secret, id, isTest },
      { type, version },
    );
    const headers = {
      ...signed,
      'x-service-webhook-subscription-id': this.#state.listenerId ?? '',
      'x-service-webhook-sequence': String(sequence),
      'x-service-webhook-attempt': String(attempt),
    };
    return send(this.#options.url, { headers, body: [body] });
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
    this.#state = await this.#file.save(state);
  }

  async #pause(failures: number): Promise<void> {
    const ms = Math.min(1_000 * 2 ** failures, backoffMaxMs);
    await sleep(ms, null, { signal: this.#shell.signal }).catch(() => {});
  }
}

/** The receiver does not run: it got nothing. */
const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
]);
