import { randomBytes } from 'node:crypto';
import type { Service } from '@deedwire/core';
import { withClient } from '@deedwire/embedded-postgres';
import { openActionContext } from './action-context.ts';
import type { SharedApps } from './shared-apps.ts';
import { createClients, createTestAccounts, type TestAccount } from './test-accounts.ts';
import type { Seeding, TestedService } from './tested-service.ts';

/**
 * Creates accounts in the shared system, which the first call of a run starts. For tests that stop no app, need no
 * special configuration, and read only what belongs to their accounts. Others call `startTestSystem`.
 */
export async function joinSharedSystem<Served extends Service, Seeds extends Seeding<Served>, Records extends object>(
  tested: TestedService<Served, Seeds, Records>,
) {
  // On demand, because the rest of the harness is used without a test runner.
  const { inject } = await import('vitest');
  const module = encodeURIComponent(tested.module);
  const urlOf = (path: string): URL => new URL(`${tested.key}/${path}module=${module}`, inject('sharedApps').url);
  const { urls, databaseUrl, operatorUrl }: SharedApps<Served> = await getJson(urlOf('?'));
  // The operator reads and writes no webhook secrets, so any key does.
  const operator = openActionContext(tested.service, 'operator', operatorUrl, new Map([['unused', randomBytes(32)]]));
  const accounts = await createTestAccounts(operator, tested.seeding);
  return {
    ...(await tested.seedRecords(operator, accounts, tested.seeding)),
    accounts,
    operator,
    urls,
    ...createClients(urls, accounts),
    /** Resets the count of handshakes per minute, of these accounts only. */
    async forgetHandshakes(): Promise<void> {
      const ids = Object.values<TestAccount>(accounts).map(({ accountId }) => accountId);
      await withClient(databaseUrl, (client) =>
        client.query('delete from webhook_handshake_count where account_id = any($1)', [ids]),
      );
    },
    /** Lets the interfaces take contact addresses, whose mails stay in the database, and resets the count of confirmations. */
    async pretendMail(): Promise<void> {
      await withClient(databaseUrl, (client) =>
        client.query('update webhook_worker set sends_mail = true; delete from contact_confirmation'),
      );
    },
    /** The types of the events that requests have caused for an account, the oldest first. */
    eventsOfRequests: (accountId: string): Promise<string[]> =>
      withClient(databaseUrl, async (client) => {
        const { rows } = await client.query<{ type: string }>(
          `select event_type as type from webhook_event
           where account_id = $1 and request_id is not null and not is_test order by id`,
          [accountId],
        );
        return rows.map(({ type }) => type);
      }),
    /** The lines of the logs that contain a text. */
    logLines: (text: string): Promise<string[]> => getJson(urlOf(`log-lines?text=${encodeURIComponent(text)}&`)),
    /** Closes the connections of the test file. The system goes on. */
    close: () => operator.close(),
  };
}

async function getJson<Value>(url: URL): Promise<Value> {
  const response = await fetch(url);
  const body = await response.text();
  if (!response.ok) throw new Error(body);
  return JSON.parse(body);
}
