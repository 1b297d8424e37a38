import type { GidContext } from '@deedwire/core';
import { RefusedError } from '../kernel/errors.ts';
import {
  canBeOfClient,
  allVerbs,
  auditEntry,
  type AuditEntry,
  type Effect,
  effectsOf,
  entryWriter,
  type ListedVerb,
  nounOf,
  type RepeatedVerb,
} from './audit-effects.ts';

/** The last change of its record and verb that a restored database lacks. */
export interface LostChange<Verb extends RepeatedVerb | ListedVerb = RepeatedVerb | ListedVerb> {
  /** For example `rotate:WebhookSubscription/4711`. */
  id: string;
  verb: Verb;
  /** A global identifier, a client id or a key id. */
  subject: string;
  accountId: string | null;
  /** Only a client says so: not an operator, and no trigger. */
  isOfClient: boolean;
  /** The client of a key. */
  clientId: string | undefined;
  at: Date;
  /** The values of changed columns, as text. */
  values: AuditEntry['details']['new'];
  /** An entry of the restored database with one of these keys, not before the time, settles it, or only its column. */
  settledBy: ReadonlyMap<string, { at: Date; column: string | null }>;
}

function keyOf(what: string, subject: string, accountId: string | null): string {
  return [what, subject, accountId].join(' ');
}

const unread = {
  verb: 'read',
  accountId: null,
  clientId: undefined,
  values: {},
  settledBy: new Map(),
} as const satisfies Partial<LostChange>;

/** By what entries of the restored database are found: their action, or each changed column, and the subject. */
function keysOf(entry: AuditEntry): string[] {
  const { action, subject, accountId, details } = entry;
  const own = action === 'credential.issue' ? (details.clientId ?? '') : subject;
  const columns = Object.keys(details.new).map((column) => keyOf(`${nounOf(entry)}.${column}`, subject, accountId));
  return [keyOf(action, own, accountId), ...columns];
}

/** Collects what was lost with a restore and what was made since. Both in the order of the audit log. */
export class LostChanges {
  readonly #context: GidContext;
  readonly #open = new Map<string, LostChange>();
  readonly #created = new Set<string>();
  readonly #madeAt = { byAll: new Map<string, Date>(), byOperators: new Map<string, Date>() };
  /** The entries of clients that cannot be read, by their item. */
  readonly #unread = new Map<string, { count: number; first: string; at: Date }>();
  /** How many entries were lost, by their action. */
  readonly counts = new Map<string, number>();

  constructor(context: GidContext) {
    this.#context = context;
  }

  /** What a client says comes after what operators and triggers say, and what cannot be read last. */
  changes(): LostChange[] {
    const rank = ({ verb, isOfClient }: LostChange): number => (verb === 'read' ? 2 : 0) + (isOfClient ? 1 : 0);
    return [...this.#open.values()].toSorted((a, b) => rank(a) - rank(b));
  }

  /** What the restored database has no later entry about. Null: all of it is settled. What a client writes settles only what one wrote. */
  remaining(change: LostChange): LostChange | null {
    const madeAt = change.isOfClient ? this.#madeAt.byAll : this.#madeAt.byOperators;
    const settled = [...change.settledBy].filter(([key, { at }]) => (madeAt.get(key) ?? new Date(0)) >= at);
    if (settled.length === 0) return change;
    const columns = new Set(settled.map(([, { column }]) => column));
    const left = Object.entries(change.values).filter(([column]) => !columns.has(column));
    return columns.has(null) || left.length === 0 ? null : { ...change, values: Object.fromEntries(left) };
  }

  /** Whether only the restored database has an entry of an operator with this action and subject, of no account. */
  wasMade(action: string, subject: string): boolean {
    return this.#madeAt.byOperators.has(keyOf(action, subject, null));
  }

  /**
   * An entry, as JSON, that only the restored database has.
   *
   * @throws {RefusedError} `CONFLICT` if it says that the database is a copy, or has another namespace
   */
  addMade(json: string): void {
    const { data, isOfClient } = this.#read(json, 'This database');
    if (data === undefined || (isOfClient && !canBeOfClient(data))) return;
    for (const key of keysOf(data)) {
      this.#madeAt.byAll.set(key, data.at);
      if (!isOfClient) this.#madeAt.byOperators.set(key, data.at);
    }
  }

  /**
   * An entry, as JSON, that the restored database lacks, and its number.
   *
   * @throws {RefusedError} `CONFLICT` as `addMade`
   */
  addLost(json: string, number: string, at: Date): void {
    const { data, isOfClient, login } = this.#read(json, 'The other database');
    const found = data === undefined ? null : effectsOf(this.#context, data, isOfClient);
    // A client can write any action.
    const action = data === undefined || (found === null && isOfClient) ? 'unreadable' : data.action;
    this.counts.set(action, (this.counts.get(action) ?? 0) + 1);
    if (data === undefined || found === null) {
      const subject = `${action} ${data?.subject ?? ''}`.trim();
      if (isOfClient) this.#listUnread(login ?? 'clients', number, at);
      else this.#open.set(`read:${number}`, { ...unread, id: `read:${number}`, subject, isOfClient, at });
      return;
    }
    // Records that were created since are lost, with all that happened to them. The limit of a client is that of the next one, too.
    const created = keyOf(nounOf(data), data.subject, data.accountId);
    const isOfCreated = this.#created.has(created);
    for (const effect of found)
      if (!isOfCreated || effect.ends === 'all') this.#apply(effect, data, { isOfCreated, isOfClient });
    if (!isOfClient && /^(?!client\.).*\.(?:add|create|issue)$/.test(data.action)) this.#created.add(created);
  }

  /** One item for each login: it can write any number of entries. */
  #listUnread(login: string, number: string, at: Date): void {
    const id = `read:${login}`;
    const group = this.#unread.get(id) ?? { count: 0, first: number, at };
    group.count += 1;
    this.#unread.set(id, group);
    const entries = `${group.count.toLocaleString('en')} ${group.count === 1 ? 'entry' : 'entries'} of ${login}`;
    const subject = `${entries}, the first with the number ${group.first}`;
    this.#open.set(id, { ...unread, id, subject, isOfClient: true, at: group.at });
  }

  #read(json: string, where: string) {
    const value: unknown = JSON.parse(json);
    const { data } = auditEntry.safeParse(value);
    const { login, actorType, transactionId } = entryWriter.parse(value);
    const isOfClient = transactionId === null && actorType !== 'OPERATOR';
    if (!isOfClient && data !== undefined) {
      const { gidNamespace } = this.#context;
      const [, namespace = gidNamespace] = /^gid:\/\/([^/]+)\//.exec(data.subject) ?? [];
      if (namespace !== gidNamespace)
        throw new RefusedError(
          'CONFLICT',
          `The audit log has ${data.subject}, and GID_NAMESPACE is ${gidNamespace}. Nothing was changed. Set it as for the apps.`,
        );
      if (data.action === 'database.copied')
        throw new RefusedError(
          'CONFLICT',
          `${where} is a copy for tests: \`database copied\` closed it at ${data.at.toISOString()}. Nothing was changed. Check the URL.`,
        );
    }
    return { data, isOfClient, login };
  }

  #apply({ verb, ends, column }: Effect, entry: AuditEntry, by: { isOfCreated: boolean; isOfClient: boolean }): void {
    const { accountId, details, at } = entry;
    const { isOfClient } = by;
    const noun = nounOf(entry);
    const subject = verb === 'cancel' ? (details.replay ?? '') : entry.subject;
    const shortSubject = subject.replace(/^gid:\/\/[^/]+\//, '');
    const placeOf = (each: Effect['verb']): string => keyOf(`${each}:${shortSubject}`, noun, accountId);
    const ended = ends === 'all' ? [...allVerbs] : ends === undefined ? [] : [ends];
    // What a client says does not make void what an operator or a trigger says.
    for (const place of ended.map(placeOf))
      if (!isOfClient || this.#open.get(place)?.isOfClient === true) this.#open.delete(place);
    if (by.isOfCreated) return;
    const place = placeOf(verb);
    const before = this.#open.get(place);
    if (isOfClient && before?.isOfClient === false) return;
    const own = column === undefined ? keysOf(entry).slice(0, 1) : [keyOf(`${noun}.${column}`, subject, accountId)];
    const other =
      verb === 'pause' || verb === 'resume' ? [keyOf(`webhook_subscription.${ends}`, subject, accountId)] : [];
    const settledBy = [...own, ...other].map((each) => [each, { at, column: column ?? null }] as const);
    this.#open.delete(place);
    this.#open.set(place, {
      id: `${verb}:${shortSubject}`,
      verb,
      subject,
      accountId,
      isOfClient,
      clientId: details.clientId,
      at,
      values: { ...before?.values, ...(column !== undefined && { [column]: details.new[column] ?? null }) },
      settledBy: new Map([...(before?.settledBy ?? []), ...settledBy]),
    });
  }
}
