import { startInterface } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';

const code = async () => (await import('./partner-interface.ts')).partnerInterface;
await runMain(async () => {
  const { firm } = await import('@deedwire/firm');
  return startInterface(firm, 'partner', { app: import.meta.url, code, servesAdmin: true });
});
