import { randomBytes } from 'node:crypto';
import { defineService, ServiceError, type Service } from '@deedwire/domain';
import { firm } from '@deedwire/firm';
import { startInterface } from '@deedwire/graphql-server';
import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { partnerInterface } from '@deedwire/partner-api/partner-interface';
import { expect, test, vi } from 'vitest';

// It refuses before it connects to a database and before it listens.
vi.stubEnv('DATABASE_URL', 'postgres://partner_api@127.0.0.1:1/deedwire');
vi.stubEnv('WEBHOOK_SECRET_KEYS', `test:${randomBytes(32).toString('base64')}`);
const app = import.meta.resolve('@deedwire/partner-api/start');

async function faultsOf(service: Service, code: typeof lenderInterface | typeof partnerInterface) {
  const error: unknown = await startInterface(service, 'partner', { app, code: async () => code }).catch(
    (thrown: unknown) => thrown,
  );
  return error instanceof ServiceError ? error.faults : error;
}

test('does not start with the code of another interface', async () => {
  expect(await faultsOf(firm, lenderInterface)).toEqual([
    '"partner": the type of its accounts is Partner in the service; the code of 2026-11-01 has Lender.',
    '"partner": the type of its accounts is Partner in the service; the code of 2027-02-01 has Lender.',
    '"partner": its versions are 2026-11-01 (current) in the service; the code serves 2026-11-01 (current), 2027-02-01 (preview).',
  ]);
});

test('does not start a service without the versions of the code', async () => {
  const { names, interfaces } = firm;
  const { versions: _, records: _records, ...partner } = interfaces.partner;
  expect(await faultsOf(defineService({ names, interfaces: { partner } }), partnerInterface)).toEqual([
    '"partner": its versions are none in the service; the code serves 2026-11-01 (current).',
  ]);
});
