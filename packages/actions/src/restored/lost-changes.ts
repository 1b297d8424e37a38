import { interfaceNames } from '@deedwire/domain';
import { z } from 'zod';

/** What the command uses of an entry of the audit log, in the form of exports. */
const auditEntry = z.object({
  at: z.iso.datetime().transform((text) => new Date(text)),
  action: z.string(),
  subject: z.string(),
  accountId: z.string().nullable(),
  actorType: z.enum(['OPERATOR', 'CLIENT']).nullable(),
  transactionId: z.string().nullable(),
  details: z.object({
    /** The changed columns, as text. */
    new: z.record(z.string(), z.string().nullable()).default({}),
    clientId: z.string().optional(),
    replay: z.string().optional(),
  }),
});

type AuditEntry = z.output<typeof auditEntry>;

/** What `repeatChange` does again. */
export type RepeatedVerb = 'cancel' | 'delete' | 'expire' | 'limit' | 'listeners' | 'pause' | 'pin' | 'revoke';
/** What needs a secret, a person or a decision. */
export type ListedVerb = 'create' | 'erase' | 'issue' | 'read' | 'resume' | 'rewrap' | 'rotate' | 'update';

/** The last change of its subject and verb that a restored database lacks. */
export interface LostChange<Verb extends RepeatedVerb | ListedVerb = RepeatedVerb | ListedVerb> {
  /** For example `rotate:WebhookSubscription/4711`. */
  id: string;
  verb: Verb;
  /** A global identifier, a client id or a key id. */
  subject: string;
  accountId: string | null;
  /** The client of a key. */
  clientId: string | undefined;
  at: Date;
  /** The values of changed columns, as text. */
  values: AuditEntry['details']['new'];
  /** An entry of the restored database with one of these keys settles it: it was done, or decided anew. */
  settledBy: string[];
}

interface Effect {
  verb: RepeatedVerb | ListedVerb;
  /** The changes of the subject that it makes void. `all`: also its creation. */
  ends?: 'all' | ListedVerb | RepeatedVerb;
  /** The column that it is about, if a trigger writes the entry. */
  column?: string;
}

const effects: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['credential.delete', { verb: 'revoke', ends: 'all' }],
  ['credential.issue', { verb: 'issue' }],
  ['member.add', { verb: 'create' }],
  ['member.remove', { verb: 'delete', ends: 'all' }],
  ['member.update', { verb: 'update' }],
  ['organization.create', { verb: 'create' }],
  ['person.erase', { verb: 'erase' }],
  ['secrets.rewrap', { verb: 'rewrap' }],
  ['webhook_listener.delete', { verb: 'delete', ends: 'all' }],
  ['webhook_subscription.cancel-replay', { verb: 'cancel' }],
  ['webhook_subscription.create', { verb: 'create' }],
  ['webhook_subscription.delete', { verb: 'delete', ends: 'all' }],
  ['webhook_subscription.pause', { verb: 'pause', ends: 'resume' }],
  ['webhook_subscription.resume', { verb: 'resume', ends: 'pause' }],
  ['webhook_subscription.rotate', { verb: 'rotate' }],
  ['webhook_subscription.update', { verb: 'update' }],
  ...interfaceNames.map((name): [string, Effect] => [`${name}.create`, { verb: 'create' }]),
]);

/** By noun and column, for the updates whose entries triggers write. */
const effectsOfColumns: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['client.cost_maximum', { verb: 'limit' }],
  ['client.cost_restore_rate', { verb: 'limit' }],
  ['client.schema_version', { verb: 'pin' }],
  ['credential.expires_at', { verb: 'expire' }],
  ['credential.revoked_at', { verb: 'revoke', ends: 'all' }],
  ...interfaceNames.flatMap((name): [string, Effect][] => [
    [`${name}.name`, { verb: 'update' }],
    [`${name}.webhook_listeners_forbidden_at`, { verb: 'listeners' }],
  ]),
]);

/** They are lost with their records, or end by themselves. */
const counted: ReadonlySet<string> = new Set([
  'client.create',
  'database.advance-sequences',
  'database.disable-login',
  'database.restored',
  'database.waive',
  'portal_link.create',
  'portal_session.end',
  'portal_session.start',
  'referral.convert',
  'referral.create',
  'referral.decline',
  'webhook_delivery.retry',
  'webhook_listener.create',
  'webhook_listener.expire',
  'webhook_listener.test',
  'webhook_subscription.replay',
  'webhook_subscription.send-pending',
  'webhook_subscription.test',
]);

/** Null: this build does not know what the entry says. */
function effectsOf({ action, details }: AuditEntry): Effect[] | null {
  if (counted.has(action)) return [];
  const effect = effects.get(action);
  if (effect !== undefined) return effect.verb === 'cancel' && details.replay === undefined ? null : [effect];
  const [noun, verb] = action.split('.');
  const columns = verb === 'create' || verb === 'delete' ? [] : Object.keys(details.new);
  const found = columns.flatMap((column) => {
    const ofColumn = effectsOfColumns.get(`${noun}.${column}`);
    // The removal of an expiry makes a key live longer, so an operator has to decide.
    const isKnown = ofColumn !== undefined && (ofColumn.verb === 'listeners' || details.new[column] !== null);
    return isKnown ? [{ ...ofColumn, column }] : [];
  });
  return columns.length > 0 && found.length === columns.length ? found : null;
}

/**
 * Whether the action is as trustworthy as the change itself. A login of an interface can write any entry of its accounts, as `CLIENT`, so
 * its entry is trusted only for what this login could change, too.
 */
function isTrusted({ action, actorType, transactionId }: AuditEntry): boolean {
  return transactionId !== null || actorType === 'OPERATOR' || action.startsWith('webhook_');
}

/** Operators copy it into commands. */
const plainText = /^[\w:/-]*$/;

function keyOf(what: string, subject: string, accountId: string | null): string {
  return [what, subject, accountId].join(' ');
}

/** By what entries of the restored database are found: their action, or each changed column, and the subject. */
function keysOf({ action, subject, accountId, details }: AuditEntry): string[] {
  const [noun] = action.split('.');
  const own = action === 'credential.issue' ? (details.clientId ?? '') : subject;
  const columns = Object.keys(details.new).map((column) => keyOf(`${noun}.${column}`, subject, accountId));
  return [keyOf(action, own, accountId), ...columns];
}

/** Collects what was lost with a restore and what was made since. Both in the order of the audit log. */
export class LostChanges {
  readonly #open = new Map<string, LostChange>();
  readonly #created = new Set<string>();
  readonly #madeAt = new Map<string, Date>();
  /** How many entries were lost, by their action. */
  readonly counts = new Map<string, number>();

  changes(): LostChange[] {
    return [...this.#open.values()];
  }

  /** Whether the restored database has an entry after a change that settles it. */
  isSettled({ settledBy, at }: LostChange): boolean {
    return settledBy.some((key) => (this.#madeAt.get(key) ?? new Date(0)) >= at);
  }

  /** Whether only the restored database has an entry with this action and subject, of no account. */
  wasMade(action: string, subject: string): boolean {
    return this.#madeAt.has(keyOf(action, subject, null));
  }

  /** An entry, as JSON, that only the restored database has. */
  addMade(json: string): void {
    const { data } = auditEntry.safeParse(JSON.parse(json));
    if (data !== undefined && isTrusted(data)) for (const key of keysOf(data)) this.#madeAt.set(key, data.at);
  }

  /** An entry, as JSON, that the restored database lacks, and its number. */
  addLost(json: string, number: string, at: Date): void {
    const { data } = auditEntry.safeParse(JSON.parse(json));
    const action = data?.action ?? 'unreadable';
    this.counts.set(action, (this.counts.get(action) ?? 0) + 1);
    const isPlain = plainText.test(`${data?.subject}${data?.accountId}${data?.details.clientId}`);
    const found = data !== undefined && isTrusted(data) ? effectsOf(data) : null;
    if (data === undefined || found === null || (found.length > 0 && !isPlain)) {
      const common = { accountId: data?.accountId ?? null, clientId: undefined, values: {}, settledBy: [] };
      const id = `read:${number}`;
      this.#open.set(id, { ...common, id, verb: 'read', subject: `${action} ${data?.subject ?? ''}`.trim(), at });
      return;
    }
    // Records that were created since are lost, with all that happened to them.
    const isOfCreated = this.#created.has(data.subject);
    for (const effect of found) if (!isOfCreated || effect.ends === 'all') this.#apply(effect, data, isOfCreated);
    if (/\.(?:add|create|issue)$/.test(action)) this.#created.add(data.subject);
  }

  #apply({ verb, ends, column }: Effect, entry: AuditEntry, isOfCreated: boolean): void {
    const { action, accountId, details, at } = entry;
    const subject = verb === 'cancel' ? (details.replay ?? '') : entry.subject;
    for (const [id, each] of this.#open)
      if (each.subject === subject && each.verb !== 'erase' && (ends === 'all' || ends === each.verb))
        this.#open.delete(id);
    if (isOfCreated) return;
    const id = `${verb}:${subject.replace(/^gid:\/\/[^/]+\//, '')}`;
    const [noun] = action.split('.');
    const own = column === undefined ? keysOf(entry).slice(0, 1) : [keyOf(`${noun}.${column}`, subject, accountId)];
    const other =
      verb === 'pause' || verb === 'resume' ? [keyOf(`webhook_subscription.${ends}`, subject, accountId)] : [];
    const before = this.#open.get(id);
    this.#open.delete(id);
    this.#open.set(id, {
      id,
      verb,
      subject,
      accountId,
      clientId: details.clientId,
      at,
      values: { ...before?.values, ...details.new },
      settledBy: [...(before?.settledBy ?? []), ...own, ...other],
    });
  }
}
