import { type AccountId, addressKey, formatAccountGid, formatGid } from '@deedwire/domain';
import { type MemberAddress, selectAddresses } from '@deedwire/store/team-members';
import type { ActionContext } from './context.ts';

/** Team members of a lender with the same address in different spellings. An erasure of the person erases all of them. */
export interface SharedAddress {
  lenderId: string;
  teamMemberIds: string[];
}

const membersTogether = 10_000;

/** What was added while the locale of the database decided which addresses are the same. */
export async function findSharedAddresses(
  context: Pick<ActionContext, 'store' | 'service' | 'gidNamespace'>,
): Promise<SharedAddress[]> {
  const { store, gidNamespace } = context;
  const shared: SharedAddress[] = [];
  let accountId: AccountId | null = null;
  let byKey = new Map<string, MemberAddress[]>();
  const endAccount = (): void => {
    for (const members of byKey.values()) {
      if (accountId === null || members.length < 2) continue;
      shared.push({
        lenderId: formatAccountGid(context, 'lender', accountId),
        teamMemberIds: members.map(({ id }) => formatGid(gidNamespace, 'TeamMember', id)),
      });
    }
    byKey = new Map();
  };
  for (let after: MemberAddress | null = null; ;) {
    const page: MemberAddress[] = await selectAddresses(store, after, membersTogether);
    for (const member of page) {
      if (member.accountId !== accountId) endAccount();
      accountId = member.accountId;
      const key = addressKey(member.email);
      byKey.set(key, [...(byKey.get(key) ?? []), member]);
    }
    after = page.at(-1) ?? null;
    if (page.length < membersTogether) break;
  }
  endAccount();
  return shared;
}
