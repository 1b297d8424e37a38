import { createRequire } from 'node:module';
import { startInterfaceService } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';
import { readLenderApiConfig } from './config.ts';
import { lenderInterface } from './lender-interface.ts';

// `require`, because an import of a file outside of `src` does not compile.
const { version: appVersion }: { version: string } = createRequire(import.meta.url)('../package.json');

const contracts = new URL('contracts.json', import.meta.url);
await runMain(() =>
  startInterfaceService({ ...lenderInterface, config: readLenderApiConfig(), appVersion, contracts }),
);
