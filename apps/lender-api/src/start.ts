import { firm } from '@deedwire/firm';
import { startInterface } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';

const code = async () => (await import('./lender-interface.ts')).lenderInterface;
await runMain(() => startInterface(firm, 'lender', { app: import.meta.url, code }));
