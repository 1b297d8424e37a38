import { firm } from '@deedwire/firm';
import { startInterface } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';

const code = async () => (await import('./partner-interface.ts')).partnerInterface;
await runMain(() => startInterface(firm, 'partner', { app: import.meta.url, code }));
