import { startInterface } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';

const code = async () => (await import('./lender-interface.ts')).lenderInterface;
await runMain(async () => {
  const { firm } = await import('@deedwire/firm');
  return startInterface(firm, 'lender', { app: import.meta.url, code, servesAdmin: true });
});
