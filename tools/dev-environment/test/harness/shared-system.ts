import { randomBytes } from 'node:crypto';
import { withClient } from '@deedwire/embedded-postgres';
import { inject } from 'vitest';
import { ensureOpenReferrals } from '../../src/seed.ts';
import { openActionContext } from './action-context.ts';
import type { SharedApps } from './shared-apps.ts';
import { createClients, createTestAccounts } from './test-accounts.ts';

export type SharedSystem = Awaited<ReturnType<typeof joinSharedSystem>>;

/**
 * Creates accounts in the shared system, which the first call of a run starts. For tests that stop no app, need no
 * special configuration, and read only what belongs to their accounts. Others call `startTestSystem`.
 */
export async function joinSharedSystem() {
  const { url } = inject('sharedApps');
  const { urls, databaseUrl, operatorUrl }: SharedApps = await getJson(url);
  // The operator reads and writes no webhook secrets, so any key does.
  const operator = openActionContext('operator', operatorUrl, new Map([['unused', randomBytes(32)]]));
  const accounts = await createTestAccounts(operator);
  return {
    accounts,
    operator,
    urls,
    referrals: await ensureOpenReferrals(operator, accounts.partner.id),
    ...createClients(urls, accounts),
    /** Resets the count of handshakes per minute, of these accounts only. */
    async forgetHandshakes(): Promise<void> {
      const ids = Object.values(accounts).map(({ accountId }) => accountId);
      await withClient(databaseUrl, (client) =>
        client.query('delete from webhook_handshake_count where account_id = any($1)', [ids]),
      );
    },
    /** The lines of the logs that contain a text. */
    logLines: (text: string): Promise<string[]> => getJson(`${url}log-lines?text=${encodeURIComponent(text)}`),
    /** Closes the connections of the test file. The system goes on. */
    close: () => operator.close(),
  };
}

async function getJson<Value>(url: string): Promise<Value> {
  const response = await fetch(url);
  const body = await response.text();
  if (!response.ok) throw new Error(body);
  return JSON.parse(body);
}
