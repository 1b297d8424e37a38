import {
  abilities as allAbilities,
  type Ability,
  findAbilitiesFault,
  formatGid,
  type InterfaceName,
  operatorCommand,
} from '@deedwire/core';
import { selectKeySelfService } from '@deedwire/store/credentials';
import { insertPortalLink } from '@deedwire/store/portal-sessions';
import { nameOperator } from '../kernel/audit.ts';
import type { OperatorContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import { findAccount } from './accounts.ts';
import { currentInterfaceVersion } from './clients.ts';
import { createClientId, lockClientForKey } from './credentials.ts';
import {
  createToken,
  hashOf,
  limitReached,
  type PortalLink,
  portalPath,
  unusedLinksPerAccount,
} from './portal-sessions.ts';

/** A link with which a client gets its first key. */
export interface KeyInvite extends PortalLink {
  /** The global identifier of the session that it becomes. */
  sessionId: string;
  clientId: string;
  /** What the keys that result can have at most. */
  abilities: readonly Ability[];
}

const [expiryMin, expiryDefault, expiryMax] = [3_600, 86_400, 7 * 86_400];

/** Who created the keys, for their owner. The entries of the audit log name the operator. */
const actor = 'invite';

/**
 * Creates a link to the page of the portal that manages the keys of one client. Its session does nothing else but read.
 *
 * @param input.interfaceName undefined: that of the account
 * @param input.clientId the client of the account. Null creates a new client, pinned to the current version, without a key.
 * @param input.abilities what the keys that result can have at most. Undefined: all
 * @param input.expiresInSeconds of the link, an hour to 7 days. Undefined: 24 hours
 * @throws {RefusedError} `NOT_FOUND` if the account or the client does not exist; `LIMIT_REACHED` if the account has 100 links that were
 * not used; `INVALID` if the client is that of the portal, or the abilities or the expiry are invalid; `CONFLICT` while only operators manage keys
 */
export async function inviteToKeys(
  context: OperatorContext & { portalOrigin: string },
  input: {
    interfaceName?: InterfaceName | undefined;
    accountId: string;
    clientId: string | null;
    abilities?: readonly Ability[] | undefined;
    expiresInSeconds?: number | undefined;
  },
): Promise<KeyInvite> {
  const { abilities = allAbilities, expiresInSeconds = expiryDefault } = input;
  const fault = findAbilitiesFault(abilities);
  if (fault !== null) throw new RefusedError('INVALID', fault);
  if (!(expiresInSeconds >= expiryMin && expiresInSeconds <= expiryMax))
    throw new RefusedError(
      'INVALID',
      `The invite must expire after 1 hour to 7 days, not after ${expiresInSeconds} seconds.`,
    );
  if (!(await selectKeySelfService(context.store)))
    throw new RefusedError(
      'CONFLICT',
      `Only operators manage keys, so an invite could create none. Run \`${operatorCommand()} database key-self-service on\` first.`,
    );
  const account = await findAccount(context, input.interfaceName ?? null, input.accountId);
  const { interfaceName } = account;
  const clientId = input.clientId ?? createClientId(context, interfaceName);
  const token = createToken(context.random);
  const link = await context.store.transaction(async (transaction) => {
    await nameOperator(transaction, context.operator, 'credential.invite');
    const client = {
      clientId,
      schemaVersion: currentInterfaceVersion(context.service, interfaceName),
      isNew: input.clientId === null,
    };
    const apiClientId = await lockClientForKey(context, transaction, account, client);
    const created = {
      accountId: account.id,
      interfaceName,
      keyId: null,
      abilities: ['READ', 'MANAGE_KEYS'] as const,
      actor,
      returnUrl: null,
      subscriptionId: null,
      linkHash: hashOf(token),
      expiresInSeconds,
      invite: { apiClientId, abilities },
    };
    const inserted = await insertPortalLink(transaction, created, unusedLinksPerAccount);
    // Without a link, no client is created either.
    if (inserted === null) throw new RefusedError('LIMIT_REACHED', limitReached.message);
    return inserted;
  });
  const url = `${context.portalOrigin}${portalPath(context, interfaceName, link.organizationId)}keys#link=${token}`;
  const sessionId = formatGid(context.gidNamespace, 'PortalSession', link.id);
  return { sessionId, url, expiresAt: link.expiresAt, clientId, abilities };
}
