import { join } from 'node:path';
import { interfaceNames, testService } from '@deedwire/core/test-service';
import { loadInterface, readLayout } from '@deedwire/layout';
import { seedAccounts } from '../../src/sample-accounts.ts';
import { workspaceRoot } from '../../src/workspace.ts';
import type { Seeding, TestedService } from './tested-service.ts';

type TestService = typeof testService;

const folder = 'tools/test-service';

/** The test service. */
export const serviceTests: TestedService<TestService, Seeding<TestService>, object> = {
  service: testService,
  interfaceNames,
  folder,
  key: 'test_service',
  module: import.meta.url,
  mainInterface: 'customer',
  codeOf: async (name) => loadInterface(await readLayout(join(workspaceRoot, folder)), name),
  commands: [],
  seeding: { seed: (operator) => seedAccounts(operator, testService, ['North Shop', 'South Shop']) },
  seedRecords: async () => ({}),
};
