import { interfaceNames, testService } from '@deedwire/core/test-service';
import { seedAccounts } from '../../src/sample-accounts.ts';
import type { Seeding, TestedService } from './tested-service.ts';

type TestService = typeof testService;

/** The test service. */
export const serviceTests: TestedService<TestService, Seeding<TestService>, object> = {
  service: testService,
  interfaceNames,
  entryOf: (app) => `tools/test-service/src/${app}.ts`,
  key: 'test_service',
  mainInterface: 'customer',
  codeOf: async (name) =>
    name === 'customer'
      ? (await import('@deedwire/test-service/customer-interface')).customerInterface
      : (await import('@deedwire/test-service/supplier-interface')).supplierInterface,
  commands: [],
  seeding: { seed: (operator) => seedAccounts(operator, testService, ['North Shop', 'South Shop']) },
  seedRecords: async () => ({}),
};
