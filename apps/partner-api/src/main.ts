import { createRequire } from 'node:module';
import { startInterfaceService } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';
import { readPartnerApiConfig } from './config.ts';
import { partnerInterface } from './partner-interface.ts';

// Not imported: it lies outside of what is compiled.
const { version: appVersion }: { version: string } = createRequire(import.meta.url)('../package.json');

await runMain(() => startInterfaceService({ ...partnerInterface, config: readPartnerApiConfig(), appVersion }));
