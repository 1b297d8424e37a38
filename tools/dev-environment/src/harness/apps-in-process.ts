import { randomBytes } from 'node:crypto';
import {
  type ActionContext,
  createLender,
  createOrganization,
  createPartner,
  type IssuedCredential,
  issueCredential,
} from '@deedwire/actions';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { type InterfaceConfig, type ServedContract, startInterfaceService } from '@deedwire/graphql-server';
import type { RunningService } from '@deedwire/service-runtime';
import { createStore, migrate, type Store } from '@deedwire/store';
import { partnerInterface } from '../src/partner-interface.ts';

export interface Account {
  id: string;
  credential: IssuedCredential;
}

export interface Harness {
  /** As a login in the app's own group role. */
  databaseUrl: string;
  /** Sees and may do everything. */
  superuser: Store;
  /** As the operator acts. */
  operator: ActionContext;
  partner: Account;
  otherPartner: Account;
  lender: Account;
  /** Starts the app in this process. */
  start(config?: Partial<InterfaceConfig>, contract?: ServedContract): Promise<RunningService>;
  close(): Promise<void>;
}

export async function createHarness(): Promise<Harness> {
  const database = await createTestDatabase({
    template: 'migrated',
    prepare: async (url) => void (await migrate(url)),
  });
  const store = createStore({ databaseUrl: await database.urlFor('operator'), applicationName: 'test-operator' });
  const superuser = createStore({ databaseUrl: database.databaseUrl, applicationName: 'test-superuser' });
  const operator: ActionContext = { store, gidNamespace: 'service', notify: () => {} };
  const databaseUrl = await database.urlFor('partner_api');
  const running: RunningService[] = [];

  const { id: organizationId } = await createOrganization(operator, { name: 'Organization' });
  const { id: otherOrganizationId } = await createOrganization(operator, { name: 'Other organization' });
  const withKey = async (interfaceName: 'lender' | 'partner', { id }: { id: string }): Promise<Account> => ({
    id,
    credential: await issueCredential(operator, { interfaceName, accountId: id, clientId: null }),
  });

  return {
    databaseUrl,
    superuser,
    operator,
    partner: await withKey('partner', await createPartner(operator, { organizationId, name: 'Partner' })),
    otherPartner: await withKey(
      'partner',
      await createPartner(operator, { organizationId: otherOrganizationId, name: 'Other partner' }),
    ),
    lender: await withKey('lender', await createLender(operator, { organizationId, name: 'Lender' })),
    async start(config, contract = partnerInterface.contract) {
      const service = await startInterfaceService({
        ...partnerInterface,
        contract,
        appVersion: '0.0.0',
        config: {
          PORT: 0,
          HOST: '127.0.0.1',
          LOG_LEVEL: 'silent',
          NODE_ENV: 'test',
          DATABASE_URL: databaseUrl,
          GID_NAMESPACE: 'service',
          WEBHOOK_SECRET_KEYS: new Map([['test', randomBytes(32)]]),
          WEBHOOK_CALLBACK_POLICY: 'development',
          DOCUMENTATION_URL: 'https://docs.example',
          ...config,
        },
      });
      running.push(service);
      return service;
    },
    async close() {
      await Promise.all(running.map((service) => service.stop()));
      await store.close();
      await superuser.close();
      await database.drop();
    },
  };
}

export interface Answer<Data> {
  status: number;
  headers: Headers;
  body: {
    data?: Data | null;
    errors?: { message: string; extensions: { code: string } }[];
  };
}

/** `Data` is what the query selects. */
export async function call<Data = Record<string, unknown>>(
  service: RunningService,
  { clientId, apiKey, organizationId }: IssuedCredential,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Answer<Data>> {
  const response = await fetch(`${service.url}/partners/graphql`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-Client-Id': clientId,
      'X-Service-API-Key': apiKey,
      'X-Service-Organization-Id': organizationId,
    },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}
