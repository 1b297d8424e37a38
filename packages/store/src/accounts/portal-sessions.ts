import type { Ability, AccountId, InterfaceName, PortalAbility, RecordId } from '@deedwire/core';
import { type Database, firstRow, sql } from '../statements/database.ts';
import { pageConditions, type PageQuery } from '../statements/page-query.ts';
import { type Away, awayColumn } from './credentials.ts';

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
  /** The client whose keys the session manages, and what these can have at most. Null: both are those of the key. */
  invite: { apiClientId: RecordId<'ApiClient'>; abilities: readonly Ability[] } | null;
}

export interface PortalLinkRow {
  id: RecordId<'PortalSession'>;
  organizationId: RecordId<'Organization'>;
  expiresAt: Date;
}

/**
 * A trigger creates the client of the portal for the account. Served by portal_session_unused_by_account.
 *
 * @returns null if the account has `maxUnused` links that can be used
 */
export async function insertPortalLink(
  database: Database,
  link: NewPortalLink,
  maxUnused: number,
): Promise<PortalLinkRow | null> {
  const { invite } = link;
  // An interface may not write the columns of invites.
  const [name, columns, values] =
    invite === null
      ? ['link', '', '']
      : ['invite', ', invited_client_id, invited_abilities', ', $11::bigint, $12::text[]'];
  const statement = sql(`insert-portal-${name}`)`
      insert into portal_session
        (account_id, interface, key_id, abilities, actor, return_url, subscription_id, link_hash, expires_at${columns})
      select $1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9)${values}
      where $10 > (select count(*) from portal_session where account_id = $1 and token_hash is null and expires_at > now())
      returning id, expires_at as "expiresAt",
        (select organization_id from account where account.id = account_id) as "organizationId"`;
  return firstRow(
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
      maxUnused,
      ...(invite === null ? [] : [invite.apiClientId, invite.abilities]),
    ]),
  );
}

const keyIsLive = `(s.key_id is null or exists (
  select from api_key k where k.key_id = s.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
))`;

/** As in the trigger check_portal_session(). A link has no time of use. */
const isInUse = `last_used_at > now() - interval '30 minutes'`;

const isLive = `s.expires_at > now() and s.${isInUse} and ${keyIsLive}`;

const isUnused = `s.token_hash is null and s.expires_at > now() and ${keyIsLive}`;

/** Makes the session of a link, once. A trigger waits for others that start of the account. Served by portal_session_pkey. */
export async function startPortalSession(
  database: Database,
  id: RecordId<'PortalSession'>,
  tokenHash: Buffer,
): Promise<void> {
  const statement = sql('start-portal-session')`
      update portal_session s
      set token_hash = $2, started_at = now(), last_used_at = now(), expires_at = now() + interval '8 hours'
      where s.id = $1 and ${isUnused}`;
  await database.query(statement, [id, tokenHash]);
}

/** Rounded to milliseconds, `now()` could be in the future. */
const end = (condition: string): string => `
  update portal_session s
  set expires_at = date_trunc('milliseconds', now())
  where ${condition} and s.expires_at > now()
  returning s.id`;

/**
 * Ends the session of a token, and the sessions of an account beyond a number, those first that were not used for longest. Locks
 * them in the order of their ids, because the token can be of another account. Served by portal_session_token_hash_key and
 * portal_session_listed_by_account.
 */
export async function endReplacedPortalSessions(
  database: Database,
  { tokenHash, accountId, max }: { tokenHash: Buffer | null; accountId: AccountId; max: number },
): Promise<void> {
  const replaced = `array(
    select s.id from portal_session s where s.token_hash = $1 and ${isLive}
    union all (
      select s.id
      from portal_session s
      where s.account_id = $2 and s.token_hash is not null and s.token_hash is distinct from $1 and ${isLive}
      order by s.last_used_at desc, s.id desc
      offset $3
    )
  )`;
  const locked = `array(select id from portal_session where id = any (${replaced}) order by id for update)`;
  const statement = { name: 'end-replaced-portal-sessions', text: end(`s.id = any (${locked})`) };
  await database.query(statement, [tokenHash, accountId, max]);
}

/** Ends a session, or a link that was not used yet. False if there is none. Served by portal_session_pkey. */
export async function endPortalSession(database: Database, id: RecordId<'PortalSession'>): Promise<boolean> {
  const statement = { name: 'end-portal-session', text: end('s.id = $1') };
  return (await database.query(statement, [id])).length > 0;
}

/** Not of accounts at home in another cell: their rows cannot change, and they are refused. Reads all of a short table. */
const allThatCanEnd = `
  select id
  from portal_session p
  where expires_at > now() and not exists (select from account_away a where a.account_id = p.account_id and not a.is_frozen)`;

/** How many sessions and links `endAllPortalSessions` would end. */
export async function countAllPortalSessions(database: Database): Promise<number> {
  return (await database.query({ name: 'count-all-portal-sessions', text: allThatCanEnd }, [])).length;
}

/** Ends all sessions and links, in the order of their ids as above. Returns how many there were. */
export async function endAllPortalSessions(database: Database): Promise<number> {
  const locked = `array(${allThatCanEnd} order by id for update)`;
  const statement = { name: 'end-all-portal-sessions', text: end(`s.id = any (${locked})`) };
  return (await database.query(statement, [])).length;
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
  /** Null: the account is at home. */
  away: Away | null;
  /** Null if an operator created the link. */
  keyId: string | null;
  abilities: PortalAbility[];
  /** The client id of the client whose keys the session can manage: that of the key, or of an invite. Null: there is neither. */
  keyClient: string | null;
  /** Of an invite: what these keys can have at most. Null: what the session has. */
  invitedAbilities: Ability[] | null;
  actor: string;
  returnUrl: string | null;
  subscriptionId: RecordId<'WebhookSubscription'> | null;
  startedAt: Date;
  lastUsedAt: Date;
  /** The last use was recorded more than a minute ago. */
  isUseDue: boolean;
  /** Until it ends unless it is used. Rounded up: it has ended by then. */
  idleEndsInSeconds: number;
  expiresAt: Date;
  /** Rounded up. */
  expiresInSeconds: number;
}

const sessions = `
  select s.id, s.account_id as "accountId", s.interface as "interfaceName", a.name as "accountName",
    a.organization_id as "organizationId", c.client_id as "clientId", c.schema_version as "schemaVersion",
    c.cost_maximum as "costMaximum", c.cost_restore_rate as "costRestoreRate", s.key_id as "keyId", s.abilities,
    (
      select of_keys.client_id
      from api_client of_keys
      where of_keys.id = coalesce(s.invited_client_id, (select k.api_client_id from api_key k where k.key_id = s.key_id))
    ) as "keyClient", s.invited_abilities as "invitedAbilities", s.actor,
    s.return_url as "returnUrl", s.subscription_id as "subscriptionId", s.started_at as "startedAt",
    s.last_used_at as "lastUsedAt", s.last_used_at < now() - interval '1 minute' as "isUseDue",
    ceil(extract(epoch from s.last_used_at + interval '30 minutes' - now()))::int as "idleEndsInSeconds",
    s.expires_at as "expiresAt", ceil(extract(epoch from s.expires_at - now()))::int as "expiresInSeconds", ${awayColumn}
  from portal_session s
  join account a on a.id = s.account_id
  join api_client c on c.id = s.api_client_id`;

/** Null if no such session is live. Served by portal_session_token_hash_key. */
export async function selectPortalSession(
  database: Database,
  { tokenHash, interfaceName }: { tokenHash: Buffer; interfaceName: InterfaceName },
): Promise<PortalSessionRow | null> {
  const text = `${sessions} where s.token_hash = $1 and s.interface = $2 and ${isLive}`;
  const statement = { name: 'select-portal-session', text };
  return firstRow(await database.query<PortalSessionRow>(statement, [tokenHash, interfaceName]));
}

/** A link that was not used. */
export type UnusedPortalLinkRow = Omit<PortalSessionRow, 'startedAt' | 'lastUsedAt' | 'isUseDue' | 'idleEndsInSeconds'>;

/**
 * Null if there is no such link, or it or its key is not accepted. Served by portal_session_link_hash_key.
 *
 * @param link.organizationId of the URL. The link must belong to an account of it.
 */
export async function selectPortalLink(
  database: Database,
  link: { linkHash: Buffer; interfaceName: InterfaceName; organizationId: RecordId<'Organization'> },
): Promise<UnusedPortalLinkRow | null> {
  const text = `${sessions} where s.link_hash = $1 and s.interface = $2 and a.organization_id = $3 and ${isUnused}`;
  const { linkHash, interfaceName, organizationId } = link;
  const statement = { name: 'select-portal-link', text };
  return firstRow(await database.query<UnusedPortalLinkRow>(statement, [linkHash, interfaceName, organizationId]));
}

/** A session that is live, or an invite that was not used. */
export interface ListedPortalSessionRow extends Omit<PortalSessionRow, 'startedAt' | 'lastUsedAt'> {
  startedAt: Date | null;
  lastUsedAt: Date | null;
}

/**
 * The sessions that are live and the invites that were not used, newest link first. Served by portal_session_listed_by_account or
 * portal_session_pkey.
 *
 * @param accountId null for those of all accounts
 */
export async function selectPortalSessions(
  database: Database,
  accountId: AccountId | null,
  page: PageQuery<'PortalSession'>,
): Promise<ListedPortalSessionRow[]> {
  const { scope, conditions, values } = pageConditions(['s.account_id', accountId], 's.id', page);
  const statement = sql(`select-portal-sessions${scope}`, 'in-index-order')`${sessions}
      where (s.token_hash is not null or s.invited_client_id is not null)
        and case when s.token_hash is null then ${isUnused} else ${isLive} end and ${conditions}
      limit $2`;
  return database.query<ListedPortalSessionRow>(statement, values);
}

/**
 * Records that a session is used, at most once a minute, unless it became idle meanwhile. Waits for no lock. Served by
 * portal_session_pkey.
 */
export async function updatePortalSessionUse(database: Database, id: RecordId<'PortalSession'>): Promise<void> {
  const statement = {
    name: 'update-portal-session-use',
    text: `
      update portal_session
      set last_used_at = now()
      where id = (
        select id
        from portal_session
        where id = $1 and expires_at > now() and ${isInUse} and last_used_at < now() - interval '1 minute'
        for update skip locked
      )`,
  };
  await database.query(statement, [id]);
}
