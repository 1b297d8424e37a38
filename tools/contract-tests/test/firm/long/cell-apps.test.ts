import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPortalLinkOfAccount } from '@deedwire/actions';
import { type AppName, perApp, startSystem } from '@deedwire/dev-environment/firm/system';
import {
  callOperatorWith,
  createAppsInProcess,
  createHarness,
  createTestAccounts,
  type Harness,
  type TestAccount,
  urlsOfApps,
} from '@deedwire/dev-environment/test/firm/harness';
import { firm } from '@deedwire/firm';
import { applyMigrations, migrate, readMigrations } from '@deedwire/store';
import { createClient, eventually, postGraphql, startReceiver } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type CellServer, type CellServers, startCellServers } from '../../support/cells/cell-servers.ts';
import { isWithoutPostgres } from '../../support/failover/programs.ts';
import { createBrowser, portalOrigin, writePages } from '../../support/portal-browser.ts';
import { subscribe } from '../../support/subscribe.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';
import { checkOutLastRelease, type Release } from '../support/last-release.ts';

// A split, as the clients of the apps of both sides see it. A proxy would send them to the other side at its end.

const steps = [['freeze', '--yes'], ['wait'], ['promote', '--yes'], ['activate', '--yes']];
const refer = `mutation ($name: String!) {
  createReferral(input: { clientName: $name, idempotencyKey: $name }) { referral { id } userErrors { code } }
}`;
async function receiver() {
  const started = await startReceiver();
  onTestFinished(() => started.close());
  return started;
}

const numberOf = (gid: string): string => gid.slice(gid.lastIndexOf('/') + 1);

describe.skipIf(isWithoutPostgres)('while a cell splits', () => {
  let servers: CellServers;
  let harness: Harness;
  let next: CellServer;

  beforeEach(async () => {
    servers = await startCellServers();
    // Apps of the previous release may not know the baseline.
    const chain = (await readMigrations()).filter(({ isBaseline }) => !isBaseline);
    harness = await createHarness({ url: servers.primary.url, stop: async () => {} }, async (url) => {
      await applyMigrations(url, chain, {});
      await migrate(url, firm);
    });
    // The logins of the apps come along.
    await urlsOfApps(harness.database);
    next = await servers.addStandby('next');
  });

  afterEach(async () => {
    await harness.close();
    await servers.stop();
  });

  const toNextSide = (url: string): string => Object.assign(new URL(url), { port: new URL(next.url).port }).href;

  async function run(args: readonly string[], input = ''): Promise<void> {
    const env = { DATABASE_URL: servers.primary.url, NEW_CELL_DATABASE_URL: next.url };
    const { exitCode, stderr } = await callOperatorWith({ env, input: Buffer.from(input) }, 'cell', 'split', ...args);
    expect([stderr, exitCode]).toEqual(['', 0]);
  }

  const prepare = ({ credential }: TestAccount) =>
    run(['prepare', '--to', '5', '--leave', '-', '--yes'], credential.organizationId);

  test('sessions and links of the portal from before go on at the new side', async () => {
    const { partner } = harness.accounts;
    const { folder, remove } = await writePages();
    onTestFinished(remove);
    const parts = [{ PORTAL_ORIGIN: portalOrigin } as const, undefined, { portalFolder: folder }] as const;
    const oldSide = await harness.startPartnerApi(...parts);
    await oldSide.whenReady;
    const createLink = () =>
      createPortalLinkOfAccount(
        { ...harness.operator, portalOrigin },
        {
          accountId: partner.id,
          abilities: ['READ', 'READ_PAYLOAD', 'CONFIGURE'],
          actor: 'ada',
          expiresInSeconds: 600,
        },
      );
    const { id } = await harness.subscribe((await receiver()).url, ['referral.created']);
    const base = `${firm.interfaces.partner.path}/portal/${numberOf(partner.credential.organizationId)}/`;
    const browser = createBrowser(oldSide.url, base);
    expect(await browser.open((await createLink()).url)).toMatchObject({ status: 200 });
    const unopened = await createLink();

    const renaming = { input: { id, name: 'Renamed' } };
    const list = () => browser.run('subscriptions');
    const seen = { status: 200, json: { data: { webhookSubscriptions: { nodes: [{ id }] } } } };
    await prepare(partner);
    for (const args of steps) {
      await run(args);
      // Until `activate`, the session is read.
      const isFrozen = args[0] !== 'activate';
      expect(await list()).toMatchObject(isFrozen ? seen : { status: 503, headers: { 'retry-after': '5' } });
      expect(await browser.run('rename', renaming)).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    }

    const apps = createAppsInProcess(
      { databaseUrl: next.url, urlFor: async (role) => toNextSide(await harness.database.urlFor(role)), drop: sleep },
      new Map([['test', randomBytes(32)]]),
    );
    onTestFinished(() => apps.stopApps());
    const newSide = await apps.startPartnerApi(...parts);
    await newSide.whenReady;
    browser.route(newSide.url);
    expect(await browser.send({ path: 'session' })).toMatchObject({ status: 200 });
    expect(await list()).toMatchObject(seen);
    expect(await browser.run('rename', renaming)).toMatchObject({ status: 200, json: { data: expect.anything() } });
    expect(await createBrowser(newSide.url, base).open(unopened.url)).toMatchObject({ status: 200 });
  });

  describe('with apps of the previous release on one side', () => {
    let release: Release;

    beforeEach(async () => {
      release = await checkOutLastRelease();
    });

    afterEach(() => release.remove());

    test.each(['old', 'new'])('all changes are delivered: %s', async (side) => {
      const webhookSecretKeys = `test:${randomBytes(32).toString('base64')}`;
      const apps: AppName[] = ['partner-api', 'webhook-worker'];
      const start = async (ofNextSide: boolean) => {
        const logins = await urlsOfApps(harness.database);
        const system = await startSystem({
          apps,
          webhookSecretKeys,
          databaseUrls: await perApp((name) => (ofNextSide ? toNextSide(logins[name]) : logins[name])),
          workspace: (side === 'new') === ofNextSide ? release.folder : workspaceRoot,
          env: { DATABASE_TIMEOUT_MS: '20000' },
        });
        onTestFinished(() => system.stop());
        return `${system.apps['partner-api'].url}${firm.interfaces.partner.path}/graphql`;
      };
      const oldUrl = await start(false);
      const leaving = harness.accounts.partner;
      const { partner: staying } = await createTestAccounts(harness.operator);
      const urls = new Map([
        [leaving, oldUrl],
        [staying, oldUrl],
      ]);
      const { url: callbackUrl, deliveries } = await receiver();
      for (const [account, url] of urls)
        await subscribe(createClient(url, account.credential), {
          callbackUrl,
          eventTypes: [{ type: 'referral.created' }],
        });

      /** The acknowledged changes of each account, by name. */
      const accepted = new Map<TestAccount, Map<string, string>>([
        [leaving, new Map()],
        [staying, new Map()],
      ]);
      let count = 0;
      let isEnded = false;
      const send = async (account: TestAccount, name: string, url = urls.get(account) ?? '') => {
        const { status, body } = await postGraphql<{ createReferral: { referral: { id: string } } }>(
          url,
          account.credential,
          { query: refer, variables: { name } },
        );
        if (status === 200) accepted.get(account)?.set(name, numberOf(body.data?.createReferral.referral.id ?? ''));
        return status;
      };
      const load = Promise.all(
        [leaving, staying].map(async (account) => {
          while (!isEnded) {
            const name = `R${(count += 1)}`;
            for (let status = 0; status !== 200;) {
              status = await send(account, name);
              expect([200, 503]).toContain(status);
              if (status === 503) await sleep(20);
            }
          }
        }),
      );
      try {
        const more = async () => {
          const sizes = [...accepted.values()].map(({ size }) => size);
          await eventually(() =>
            [...accepted.values()].forEach(({ size }, index) => expect(size).toBeGreaterThan((sizes[index] ?? 0) + 20)),
          );
        };
        await more();
        await prepare(leaving);
        for (const args of steps) await run(args);
        urls.set(leaving, await start(true));
        await more();
        expect(await send(leaving, 'late', oldUrl)).toBe(503);
      } finally {
        isEnded = true;
        await load;
      }
      const ids = [...accepted.values()].flatMap((names) => [...names.values()]);
      await eventually(() => {
        const received = deliveries.map(({ body }) => body.toString()).join();
        expect(ids.filter((id) => !received.includes(`/${id}"`))).toEqual([]);
      });
      const cells = (account: TestAccount) => [
        ...new Set([...(accepted.get(account)?.values() ?? [])].map((id) => (BigInt(id) >> 12n) & 1023n)),
      ];
      expect(cells(leaving)).toEqual([0n, 5n]);
      expect(cells(staying)).toEqual([0n]);
      const [late] = await servers.primary.run(`select count(*)::int from referral where client_name = 'late'`);
      expect(late).toEqual({ count: 0 });
    });
  });
});
