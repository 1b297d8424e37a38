import { hash } from 'node:crypto';
import type { AuthenticatedClient } from '@deedwire/auth';
import {
  type Ability,
  findAbilitiesFault,
  formatAccountGid,
  formatGid,
  type InterfaceName,
  interfaceOf,
  isSubscriptionName,
  operatorCommand,
  parseGid,
  parseRecordId,
  type PortalAbility,
  type RecordId,
} from '@deedwire/core';
import {
  endPortalSession,
  endReplacedPortalSessions,
  insertPortalLink,
  type ListedPortalSessionRow,
  type PortalSessionRow,
  selectPortalLink,
  selectPortalSession,
  selectPortalSessions,
  startPortalSession,
  type UnusedPortalLinkRow,
  updatePortalSessionUse,
} from '@deedwire/store/portal-sessions';
import { nameCaller, nameOperator } from '../kernel/audit.ts';
import {
  type ActionContext,
  type Caller,
  isCaller,
  type Operator,
  type OperatorContext,
  type Random,
  toCaller,
} from '../kernel/context.ts';
import { inputError, type MutationResult, orRefuse, RefusedError, type UserError } from '../kernel/errors.ts';
import { keysetPage, orderOfIds, type PageRequest } from '../kernel/page.ts';
import { selectSubscription, type SubscriptionOwner } from '../webhooks/subscriptions/subscriptions.ts';
import { findAccount } from './accounts.ts';

/** The dependencies of use cases that create links to the portal. */
export interface PortalContext extends ActionContext {
  /** Null if the portal is not served. */
  portalOrigin: string | null;
}

/** `CreatePortalLinkInput`. */
export interface CreatePortalLinkInput {
  abilities: readonly PortalAbility[];
  actor: string;
  returnUrl?: string | null | undefined;
  expiresInSeconds?: number | null | undefined;
  subscriptionId?: string | null | undefined;
}

/** The codes of `CreatePortalLinkUserErrorCode`. */
export const portalLinkErrorCodes = [
  'ABILITIES_INVALID',
  'ACTOR_INVALID',
  'EXPIRY_INVALID',
  'LIMIT_REACHED',
  'NOT_FOUND',
  'PORTAL_UNAVAILABLE',
  'RETURN_URL_INVALID',
] as const;

type CreatePortalLinkErrorCode = (typeof portalLinkErrorCodes)[number];

export interface PortalLink {
  url: string;
  expiresAt: Date;
}

type CreatePortalLinkResult = MutationResult<{ portalLink: PortalLink }, CreatePortalLinkErrorCode>;

const expiryDefault = 300;
const [expiryMin, expiryMax] = [60, 600];
export const unusedLinksPerAccount = 100;
const maxUrlCharacters = 2048;

/** Creates a link to the portal, for the account of the key with which it is requested. */
export function createPortalLink(
  context: PortalContext,
  caller: Caller,
  input: CreatePortalLinkInput,
): Promise<CreatePortalLinkResult> {
  return createLink(context, caller, caller, input);
}

/**
 * Creates a link to the portal of any account, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account or its subscription does not exist, `INVALID` if another value is invalid
 */
export async function createPortalLinkOfAccount(
  context: OperatorContext & PortalContext,
  { accountId, ...input }: CreatePortalLinkInput & { accountId: string },
): Promise<PortalLink> {
  const { id, interfaceName } = await findAccount(context, null, accountId);
  const result = await createLink(context, context.operator, { accountId: id, interfaceName }, input);
  return orRefuse(result).portalLink;
}

async function createLink(
  context: PortalContext,
  by: Caller | Operator,
  { accountId, interfaceName }: SubscriptionOwner,
  input: CreatePortalLinkInput,
): Promise<CreatePortalLinkResult> {
  const { store, random, gidNamespace, portalOrigin } = context;
  const { abilities, actor, returnUrl = null, subscriptionId: gid = null } = input;
  const expiresInSeconds = input.expiresInSeconds ?? expiryDefault;
  const subscriptionId = gid === null ? null : parseGid(gidNamespace, 'WebhookSubscription', gid);
  const userErrors = findInputErrors({ ...input, expiresInSeconds });
  const missing = isCaller(by) ? abilities.filter((ability) => by.abilities?.includes(ability) === false) : [];
  if (missing.length > 0) userErrors.push(inputError('ABILITIES_INVALID', 'abilities', beyondKey(missing)));
  if (!isCaller(by) && abilities.includes('MANAGE_KEYS')) userErrors.push(keysOfNoClient());
  if (gid !== null && (subscriptionId === null || !(await selectSubscription(store, accountId, subscriptionId))))
    userErrors.push(inputError('NOT_FOUND', 'subscriptionId', 'You have no subscription with this identifier.'));
  // The audit log keeps it for good. An operator is named there anyway.
  if (actor !== (isCaller(by) ? null : by.name) && isSubscriptionName(actor) && /[@\s]/u.test(actor))
    userErrors.push(actorNoId);
  if (portalOrigin === null) userErrors.push(unavailable);
  if (portalOrigin === null || userErrors.length > 0) return { portalLink: null, userErrors };

  const token = createToken(random);
  const link = await store.transaction(async (transaction) => {
    await (isCaller(by) ? nameCaller(transaction, by) : nameOperator(transaction, by, 'portal.link'));
    const created = {
      accountId,
      interfaceName,
      keyId: isCaller(by) ? (by.keyId ?? null) : null,
      abilities,
      actor,
      returnUrl: returnUrl === null ? null : new URL(returnUrl).href,
      subscriptionId,
      linkHash: hashOf(token),
      expiresInSeconds,
      invite: null,
    };
    return insertPortalLink(transaction, created, unusedLinksPerAccount);
  });
  if (link === null) return { portalLink: null, userErrors: [limitReached] };
  const url = `${portalOrigin}${portalPath(context, interfaceName, link.organizationId)}#link=${token}`;
  return { portalLink: { url, expiresAt: link.expiresAt }, userErrors: [] };
}

export function portalPath({ service }: ActionContext, interfaceName: InterfaceName, organizationId: string): string {
  return `${interfaceOf(service, interfaceName).path}/portal/${organizationId}/`;
}

/** Of a link or of a session. */
export function createToken(random: Random): string {
  return random.bytes(32).toString('base64url');
}

const unavailable: UserError<'PORTAL_UNAVAILABLE'> = {
  code: 'PORTAL_UNAVAILABLE',
  message: 'The operator does not serve the portal. Ask the operator to serve it.',
  field: null,
};

const actorNoId = inputError(
  'ACTOR_INVALID',
  'actor',
  'The actor contains @ or a space. Pass an id of yours, no name and no address: what the audit log keeps cannot be erased.',
);

const keysOfNoClient = () =>
  inputError(
    'ABILITIES_INVALID',
    'abilities',
    `A link that no key creates has no client whose keys it could manage. Create an invite: ${operatorCommand()} credential invite.`,
  );

export const limitReached: UserError<'LIMIT_REACHED'> = {
  code: 'LIMIT_REACHED',
  message: `The account has ${unusedLinksPerAccount} links that were not opened and have not expired. Create a link when a person opens it.`,
  field: null,
};

const beyondKey = (missing: readonly PortalAbility[]): string =>
  `Your key does not have the ${missing.length > 1 ? 'abilities' : 'ability'} ${missing.join(', ')}. A link has at most the abilities of the key that creates it.`;

function findInputErrors({
  abilities,
  actor,
  returnUrl = null,
  expiresInSeconds,
}: CreatePortalLinkInput & { expiresInSeconds: number }): UserError<CreatePortalLinkErrorCode>[] {
  const errors: UserError<CreatePortalLinkErrorCode>[] = [];
  const fault = findAbilitiesFault(abilities);
  if (fault !== null) errors.push(inputError('ABILITIES_INVALID', 'abilities', fault));
  if (!isSubscriptionName(actor)) {
    const message =
      'An actor has 1 to 100 characters, is not blank, and has no character that is invisible or changes the direction of the text.';
    errors.push(inputError('ACTOR_INVALID', 'actor', message));
  }
  if (returnUrl !== null && !isReturnUrl(returnUrl)) {
    const message = `The URL must begin with https://, and have at most ${maxUrlCharacters.toLocaleString('en')} characters, no user name, no password, no space, no control character and no backslash.`;
    errors.push(inputError('RETURN_URL_INVALID', 'returnUrl', message));
  }
  if (!(expiresInSeconds >= expiryMin && expiresInSeconds <= expiryMax)) {
    const message = `The link must expire after ${expiryMin} to ${expiryMax} seconds, not after ${expiresInSeconds}.`;
    errors.push(inputError('EXPIRY_INVALID', 'expiresInSeconds', message));
  }
  return errors;
}

/** As for callback URLs: the parser removes some characters, and other parsers do not. */
function isReturnUrl(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
  if (text.length > maxUrlCharacters || /[\u0000-\u0020\u007f\\]/.test(text)) return false;
  const [, authority = '@'] = /^https:\/\/([^/?#]+)/i.exec(text) ?? [];
  return !authority.includes('@') && URL.canParse(text) && new URL(text).href.length <= maxUrlCharacters;
}

/** A session of the portal that is live. */
export interface PortalSession extends Omit<PortalSessionRow, 'id' | 'subscriptionId' | 'invitedAbilities'> {
  /** The global identifier. */
  id: string;
  recordId: RecordId<'PortalSession'>;
  account: { id: string; name: string };
  subscriptionId: string | null;
  /** What the keys that the session creates can have at most. Empty without `MANAGE_KEYS`. */
  keyAbilities: readonly Ability[];
  /** The client of the portal for the account, as which the session acts. */
  client: AuthenticatedClient;
}

function toSession(context: ActionContext, row: PortalSessionRow): PortalSession {
  const { gidNamespace } = context;
  const { id, subscriptionId, interfaceName, accountId, accountName, invitedAbilities, ...rest } = row;
  const ofKey = row.abilities.includes('MANAGE_KEYS') ? row.abilities : [];
  return {
    ...rest,
    accountId,
    interfaceName,
    accountName,
    keyAbilities: invitedAbilities ?? ofKey,
    id: formatGid(gidNamespace, 'PortalSession', id),
    recordId: id,
    account: { id: formatAccountGid(context, interfaceName, accountId), name: accountName },
    subscriptionId: subscriptionId && formatGid(gidNamespace, 'WebhookSubscription', subscriptionId),
    client: toClient(row),
  };
}

function toClient(row: UnusedPortalLinkRow): AuthenticatedClient {
  const { accountId, clientId, interfaceName, schemaVersion, away } = row;
  const costLimit = { maximum: row.costMaximum, restoreRate: row.costRestoreRate };
  return { accountId, clientId, interfaceName, schemaVersion, costLimit, away };
}

/** A link that was not used. */
export interface UnusedPortalLink extends UnusedPortalLinkRow {
  /** The client of the portal for the account. */
  client: AuthenticatedClient;
}

interface RequestOrigin {
  requestId: string;
  address: string;
}

/** Whether it has the form of a token that `createToken` has made. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{43}$/.test(value);
}

/** SHA-256 of the token of a link or of a session. */
export function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Null if no session of the interface is live whose token has this SHA-256, in base64url. */
export async function findPortalSession(
  context: ActionContext,
  { tokenHash, interfaceName }: { tokenHash: string; interfaceName: InterfaceName },
): Promise<PortalSession | null> {
  const row = await selectPortalSession(context.store, {
    tokenHash: Buffer.from(tokenHash, 'base64url'),
    interfaceName,
  });
  return row && toSession(context, row);
}

/** Records that a session is used, at most once a minute. */
export async function recordPortalSessionUse({ store }: ActionContext, session: PortalSession): Promise<void> {
  await updatePortalSessionUse(store, session.recordId);
}

const sessionsPerAccount = 20;

/**
 * Finds a link by its token.
 *
 * @param request.organizationId of the URL
 * @returns null if the link was used or has expired, its key is revoked or has expired, or it belongs to another organization or interface
 */
export async function findPortalLink(
  context: ActionContext,
  { link, ...request }: { link: unknown; organizationId: string; interfaceName: InterfaceName },
): Promise<UnusedPortalLink | null> {
  const organizationId = parseRecordId<'Organization'>(request.organizationId);
  if (!isToken(link) || organizationId === null) return null;
  const row = await selectPortalLink(context.store, { ...request, linkHash: hashOf(link), organizationId });
  return row && { ...row, client: toClient(row) };
}

/**
 * Exchanges a link for the token of a session. The session that the browser had ends. Beyond 20 sessions of the account, the one that
 * was not used for longest ends too.
 *
 * @param request.earlierHash the SHA-256 of the token that the browser had, in base64url. Null if it had none.
 * @returns null if the link or its key is no longer accepted
 */
export async function exchangePortalLink(
  context: ActionContext,
  link: UnusedPortalLinkRow,
  { earlierHash, ...origin }: RequestOrigin & { earlierHash: string | null },
): Promise<{ token: string; session: PortalSession } | null> {
  const { id, accountId, interfaceName, clientId, actor, keyId } = link;
  const token = createToken(context.random);
  const tokenHash = hashOf(token);
  return context.store.transaction(async (transaction) => {
    const portal = { sessionId: formatGid(context.gidNamespace, 'PortalSession', id), actor, keyId };
    await nameCaller(transaction, { accountId, interfaceName, clientId, ...origin, portal });
    await startPortalSession(transaction, id, tokenHash);
    const row = await selectPortalSession(transaction, { tokenHash, interfaceName });
    // It was used or has ended meanwhile, or its key has.
    if (row === null) return null;
    const earlier = earlierHash === null ? null : Buffer.from(earlierHash, 'base64url');
    await endReplacedPortalSessions(transaction, { tokenHash: earlier, accountId, max: sessionsPerAccount });
    return { token, session: toSession(context, row) };
  });
}

/** Ends a session for its user. Every process refuses it within a second. */
export async function endOwnPortalSession(
  context: ActionContext,
  session: PortalSession,
  origin: RequestOrigin,
): Promise<void> {
  await context.store.transaction(async (transaction) => {
    await nameCaller(transaction, portalCaller(session, origin));
    await endPortalSession(transaction, session.recordId);
  });
}

/** The caller of the requests of a session. */
export function portalCaller(session: PortalSession, request: RequestOrigin): Caller {
  const { id: sessionId, actor, keyId, client, keyClient: clientId, keyAbilities } = session;
  const keys = { clientId, abilities: keyAbilities };
  return { ...toCaller(client, request), portal: { sessionId, actor, keyId }, keys };
}

/**
 * The sessions that are live and the invites that were not used, newest link first.
 *
 * @param request.accountId the global identifier of an account. Null for those of all accounts.
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist
 */
export async function listPortalSessions(context: ActionContext, request: PageRequest & { accountId: string | null }) {
  const account = request.accountId === null ? null : await findAccount(context, null, request.accountId);
  return keysetPage(
    orderOfIds<'PortalSession'>('portalSessions'),
    request,
    ({ after, limit }) => selectPortalSessions(context.store, account?.id ?? null, { afterId: after, limit }),
    (row: ListedPortalSessionRow) => {
      const { interfaceName, abilities, actor, keyId, startedAt, lastUsedAt, expiresAt } = row;
      const { keyClient, invitedAbilities } = row;
      const id = formatGid(context.gidNamespace, 'PortalSession', row.id);
      const accountId = formatAccountGid(context, interfaceName, row.accountId);
      const ofLink = { id, accountId, interfaceName, abilities, actor, keyId, keyClient, invitedAbilities };
      return { ...ofLink, startedAt, lastUsedAt, expiresAt };
    },
  );
}

/**
 * Ends a session, or a link that was not used. Every process refuses it within a second.
 *
 * @throws {RefusedError} `NOT_FOUND` if there is none, or it has ended
 */
export async function revokePortalSession(
  context: OperatorContext,
  { sessionId }: { sessionId: string },
): Promise<{ revokedPortalSessionId: string }> {
  const id = parseGid(context.gidNamespace, 'PortalSession', sessionId);
  const isEnded =
    id !== null &&
    (await context.store.transaction(async (transaction) => {
      await nameOperator(transaction, context.operator, 'portal_session.revoke');
      return endPortalSession(transaction, id);
    }));
  if (!isEnded) throw new RefusedError('NOT_FOUND', `The session ${sessionId} does not exist, or has ended.`);
  return { revokedPortalSessionId: sessionId };
}
