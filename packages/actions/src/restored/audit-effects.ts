import {
  type ActionKind,
  type GidContext,
  type GidTypeName,
  isRecordGid,
  parseAccountGid,
  parseGid,
} from '@deedwire/core';
import { z } from 'zod';

/** Who wrote an entry, even if the rest has another form. */
export const entryWriter = z.object({
  login: z.string().nullable().catch(null),
  actorType: z.enum(['OPERATOR', 'CLIENT']).nullable().catch(null),
  transactionId: z.string().nullable().catch(null),
});

/** What the command uses of an entry of the audit log, in the form of exports. */
export const auditEntry = z.object({
  at: z.iso.datetime().transform((text) => new Date(text)),
  action: z.string(),
  subject: z.string(),
  accountId: z.string().nullable(),
  details: z.object({
    /** The changed columns, as text. */
    new: z.record(z.string(), z.string().nullable()).default({}),
    clientId: z.string().optional(),
    replay: z.string().optional(),
  }),
});

export type AuditEntry = z.output<typeof auditEntry>;

/** What `repeatChange` does again. */
export type RepeatedVerb = 'cancel' | 'delete' | 'expire' | 'limit' | 'listeners' | 'pause' | 'pin' | 'revoke';
/** What needs a secret, a person or a decision. */
export type ListedVerb = 'create' | 'erase' | 'issue' | 'read' | 'resume' | 'rewrap' | 'rotate' | 'update';

export interface Effect {
  verb: RepeatedVerb | ListedVerb;
  /** The changes of the record that it makes void. `all`: also its creation. */
  ends?: 'all' | ListedVerb | RepeatedVerb;
  /** The column that it is about, if a trigger writes the entry. */
  column?: string;
}

const effects: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['contact_email.confirm', { verb: 'update' }],
  ['contact_email.erase', { verb: 'erase' }],
  ['contact_email.unsubscribe', { verb: 'update' }],
  ['contact_emails.update', { verb: 'update' }],
  ['credential.delete', { verb: 'revoke', ends: 'all' }],
  ['credential.issue', { verb: 'issue' }],
  ['database.key-self-service', { verb: 'update' }],
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
]);

/** Of the actions of the application. */
const effectsOfKinds: Record<Exclude<ActionKind, 'lost'>, Effect> = {
  create: { verb: 'create' },
  delete: { verb: 'delete', ends: 'all' },
  update: { verb: 'update' },
};

/** By noun and column, for the updates whose entries triggers write. */
const effectsOfColumns: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['client.cost_maximum', { verb: 'limit' }],
  ['client.cost_restore_rate', { verb: 'limit' }],
  ['client.schema_version', { verb: 'pin' }],
  ['credential.expires_at', { verb: 'expire' }],
  ['credential.revoked_at', { verb: 'revoke', ends: 'all' }],
]);

/** By verb or column, for accounts: their noun is the interface. */
const effectsOfAccounts: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['create', { verb: 'create' }],
  ['name', { verb: 'update' }],
  ['webhook_listeners_forbidden_at', { verb: 'listeners' }],
]);

export const allVerbs: ReadonlySet<Effect['verb']> = new Set(
  [...effects.values(), ...effectsOfColumns.values(), ...effectsOfAccounts.values()].map(({ verb }) => verb),
);

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
  'webhook_delivery.retry',
  'webhook_listener.create',
  'webhook_listener.expire',
  'webhook_listener.test',
  'webhook_subscription.replay',
  'webhook_subscription.send-pending',
  'webhook_subscription.test',
]);

/**
 * The records that entries are about, by the noun of their action, except accounts. Those of other nouns, such as keys, have no global
 * identifier.
 */
const typesOfNouns: ReadonlyMap<string, readonly GidTypeName[]> = new Map<string, readonly GidTypeName[]>([
  ['organization', ['Organization']],
  ['webhook_listener', ['WebhookListener']],
  ['webhook_subscription', ['WebhookSubscription', 'WebhookListener']],
]);

function typesOf(noun: string, { interfaces, persons }: GidContext['service']): readonly GidTypeName[] | undefined {
  if (noun === 'person') return Object.values(interfaces).flatMap(({ records }) => records);
  const table = persons.find((each) => each.noun === noun);
  return table === undefined ? typesOfNouns.get(noun) : [table.record];
}

export function nounOf({ action }: AuditEntry): string {
  return action.split('.')[0] ?? '';
}

/** Operators copy it into commands. */
const plainText = /^(?!~)[\w:/.~%-]*$/;

/** Whether the entry is about a record of the kind of its action. */
function isOfItsKind(context: GidContext, entry: AuditEntry): boolean {
  const { gidNamespace, service } = context;
  const { action, subject, accountId, details } = entry;
  if (![subject, accountId, details.clientId].every((text) => plainText.test(text ?? ''))) return false;
  if (action === 'webhook_subscription.cancel-replay')
    return parseGid(gidNamespace, 'WebhookReplay', details.replay ?? '') !== null;
  const noun = nounOf(entry);
  if (Object.hasOwn(service.interfaces, noun)) return parseAccountGid(context, noun, subject) !== null;
  const types = typesOf(noun, service);
  return types === undefined || types.some((type) => isRecordGid(context, type, subject));
}

/** Whether a client changes records of this kind. Entries of keys are those of triggers: no login of an interface can write one. */
export function canBeOfClient({ action }: AuditEntry): boolean {
  return /^(?:webhook_|credential\.|contact_emails\.)/.test(action);
}

/**
 * What an entry has changed. Null: this build does not know, or does not believe it.
 *
 * @param isOfClient a login of an interface can write any entry of its accounts, so its entry is believed only about what this login
 * could change, too
 */
export function effectsOf(context: GidContext, entry: AuditEntry, isOfClient: boolean): Effect[] | null {
  const { action, details } = entry;
  const { auditActions } = context.service;
  const kind = Object.hasOwn(auditActions, action) ? auditActions[action] : undefined;
  if (counted.has(action) || kind === 'lost') return [];
  if (!isOfItsKind(context, entry) || (isOfClient && !canBeOfClient(entry))) return null;
  const [noun = '', verb = ''] = action.split('.');
  const isOfAccount = Object.hasOwn(context.service.interfaces, noun);
  const effect =
    isOfAccount && verb === 'create'
      ? effectsOfAccounts.get(verb)
      : (effects.get(action) ?? (kind && effectsOfKinds[kind]));
  if (effect !== undefined) return [effect];
  const columns = verb === 'create' || verb === 'delete' ? [] : Object.keys(details.new);
  const found = columns.flatMap((column) => {
    const ofColumn = isOfAccount ? effectsOfAccounts.get(column) : effectsOfColumns.get(`${noun}.${column}`);
    // The removal of an expiry makes a key live longer, so an operator has to decide.
    const isKnown = ofColumn !== undefined && (ofColumn.verb === 'listeners' || details.new[column] !== null);
    return isKnown ? [{ ...ofColumn, column }] : [];
  });
  return columns.length > 0 && found.length === columns.length ? found : null;
}
