import type { AccountId, InterfaceName, RecordId } from '@deedwire/domain';
import { type Database, firstRow, onlyRow } from './database.ts';
import { keysetConditions, type PageQuery } from './page-query.ts';

export type PortalAbility = 'READ' | 'READ_PAYLOAD' | 'OPERATE' | 'CONFIGURE';

/** A link to insert. Its token gives access, so only the hash is stored. */
export interface NewPortalLink {
  accountId: AccountId;
  interfaceName: InterfaceName;
  /** The key that the session ends with. Null: an operator creates the link. */
  keyId: string | null;
  abilities: readonly PortalAbility[];
  actor: string;
  returnUrl: string | null;
  subscriptionId: RecordId<'WebhookSubscription'> | null;
  linkHash: Buffer;
  expiresInSeconds: number;
}

export interface PortalLinkRow {
  id: RecordId<'PortalSession'>;
  organizationId: RecordId<'Organization'>;
  expiresAt: Date;
}

/** A trigger creates the client of the portal for the account. */
export async function insertPortalLink(database: Database, link: NewPortalLink): Promise<PortalLinkRow> {
  const statement = {
    name: 'insert-portal-link',
    text: `
      insert into portal_session
        (account_id, interface, key_id, abilities, actor, return_url, subscription_id, link_hash, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9))
      returning id, expires_at as "expiresAt",
        (select organization_id from account where account.id = account_id) as "organizationId"`,
  };
  return onlyRow(
    await database.query<PortalLinkRow>(statement, [
      link.accountId,
      link.interfaceName,
      link.keyId,
      link.abilities,
      link.actor,
      link.returnUrl,
      link.subscriptionId,
      link.linkHash,
      link.expiresInSeconds,
    ]),
  );
}

const keyIsLive = `(s.key_id is null or exists (
  select from api_key k where k.key_id = s.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
))`;

/** A link has no time of use. */
const isLive = `s.expires_at > now() and s.last_used_at > now() - interval '30 minutes' and ${keyIsLive}`;

/**
 * Makes the session of a link, once, while the link and its key are accepted. Served by portal_session_link_hash_key.
 *
 * @param organizationId of the URL. The link must belong to an account of it.
 * @returns the account. Null if there is no such link.
 */
export async function startPortalSession(
  database: Database,
  session: { linkHash: Buffer; tokenHash: Buffer; organizationId: RecordId<'Organization'> },
): Promise<{ accountId: AccountId } | null> {
  const statement = {
    name: 'start-portal-session',
    text: `
      update portal_session s
      set token_hash = $2, started_at = now(), last_used_at = now(), expires_at = now() + interval '8 hours'
      from account a
      where s.link_hash = $1 and s.token_hash is null and s.expires_at > now() and ${keyIsLive}
        and a.id = s.account_id and a.organization_id = $3
      returning s.account_id as "accountId"`,
  };
  const { linkHash, tokenHash, organizationId } = session;
  return firstRow(await database.query<{ accountId: AccountId }>(statement, [linkHash, tokenHash, organizationId]));
}

/** Waits until no other transaction starts sessions of the account. */
export async function lockPortalSessions(database: Database, accountId: AccountId): Promise<void> {
  const statement = {
    name: 'lock-portal-sessions',
    text: `select pg_advisory_xact_lock(hashtextextended('portal-sessions:' || $1, 0))`,
  };
  await database.query(statement, [accountId]);
}

export interface EndedPortalSessionRow {
  id: RecordId<'PortalSession'>;
  accountId: AccountId;
  interfaceName: InterfaceName;
  actor: string;
}

/** Rounded to milliseconds, `now()` could be in the future. */
const end = (condition: string): string => `
  update portal_session s
  set expires_at = date_trunc('milliseconds', now())
  where ${condition}
  returning s.id, s.account_id as "accountId", s.interface as "interfaceName", s.actor`;

/** Ends the sessions of an account beyond a number, those first that were not used for longest. Served by portal_session_by_account. */
export async function endExcessPortalSessions(
  database: Database,
  accountId: AccountId,
  max: number,
): Promise<EndedPortalSessionRow[]> {
  const excess = `(
    select s.id
    from portal_session s
    where s.account_id = $1 and s.token_hash is not null and ${isLive}
    order by s.last_used_at desc, s.id desc
    offset $2
  )`;
  const statement = { name: 'end-excess-portal-sessions', text: end(`s.id in ${excess}`) };
  return database.query<EndedPortalSessionRow>(statement, [accountId, max]);
}

/** Null if no such session is live. Served by portal_session_token_hash_key. */
export async function endPortalSessionOfToken(
  database: Database,
  tokenHash: Buffer,
): Promise<EndedPortalSessionRow | null> {
  const statement = { name: 'end-portal-session-of-token', text: end(`s.token_hash = $1 and ${isLive}`) };
  return firstRow(await database.query<EndedPortalSessionRow>(statement, [tokenHash]));
}

/** Ends a session, or a link that was not used yet. Null if there is none. Served by portal_session_pkey. */
export async function endPortalSession(
  database: Database,
  id: RecordId<'PortalSession'>,
): Promise<EndedPortalSessionRow | null> {
  const statement = { name: 'end-portal-session', text: end('s.id = $1 and s.expires_at > now()') };
  return firstRow(await database.query<EndedPortalSessionRow>(statement, [id]));
}

/** A session that is live, with its account and the client of the portal. */
export interface PortalSessionRow {
  id: RecordId<'PortalSession'>;
  accountId: AccountId;
  interfaceName: InterfaceName;
  accountName: string;
  organizationId: RecordId<'Organization'>;
  clientId: string;
  schemaVersion: string;
  costMaximum: number;
  costRestoreRate: number;
  /** Null if an operator created the link. */
  keyId: string | null;
  abilities: PortalAbility[];
  actor: string;
  returnUrl: string | null;
  subscriptionId: RecordId<'WebhookSubscription'> | null;
  startedAt: Date;
  lastUsedAt: Date;
  /** The last use was recorded more than a minute ago. */
  isUseDue: boolean;
  expiresAt: Date;
}

const sessions = `
  select s.id, s.account_id as "accountId", s.interface as "interfaceName", a.name as "accountName",
    a.organization_id as "organizationId", c.client_id as "clientId", c.schema_version as "schemaVersion",
    c.cost_maximum as "costMaximum", c.cost_restore_rate as "costRestoreRate", s.key_id as "keyId", s.abilities, s.actor,
    s.return_url as "returnUrl", s.subscription_id as "subscriptionId", s.started_at as "startedAt",
    s.last_used_at as "lastUsedAt", s.last_used_at < now() - interval '1 minute' as "isUseDue", s.expires_at as "expiresAt"
  from portal_session s
  join account a on a.id = s.account_id
  join api_client c on c.id = s.api_client_id`;

/** Null if no such session is live. Served by portal_session_token_hash_key. */
export async function selectPortalSession(database: Database, tokenHash: Buffer): Promise<PortalSessionRow | null> {
  const statement = { name: 'select-portal-session', text: `${sessions} where s.token_hash = $1 and ${isLive}` };
  return firstRow(await database.query<PortalSessionRow>(statement, [tokenHash]));
}

/**
 * The sessions that are live, newest link first. Served by portal_session_by_account or portal_session_pkey.
 *
 * @param accountId null for those of all accounts
 */
export async function selectPortalSessions(
  database: Database,
  accountId: AccountId | null,
  { afterId, limit }: PageQuery<'PortalSession'>,
): Promise<PortalSessionRow[]> {
  const [scope, conditions] =
    accountId === null
      ? ['', 's.id < coalesce($1::bigint, 9223372036854775807) order by s.id desc']
      : ['-of-account', keysetConditions(['s.account_id', '$3'], 's.id', '$1')];
  const statement = {
    name: `select-portal-sessions${scope}`,
    planning: 'in-index-order' as const,
    text: `${sessions} where s.token_hash is not null and ${isLive} and ${conditions} limit $2`,
  };
  return database.query<PortalSessionRow>(statement, [afterId, limit, ...(accountId === null ? [] : [accountId])]);
}

/** Records that a session is used, at most once a minute. Served by portal_session_pkey. */
export async function updatePortalSessionUse(database: Database, id: RecordId<'PortalSession'>): Promise<void> {
  const statement = {
    name: 'update-portal-session-use',
    text: `update portal_session set last_used_at = now() where id = $1 and last_used_at < now() - interval '1 minute'`,
  };
  await database.query(statement, [id]);
}
