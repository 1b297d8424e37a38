import { runMain } from '@deedwire/service-runtime';
import { startWorker } from '@deedwire/worker';

await runMain(async () => {
  const { service } = await import('./generated/service.ts');
  return startWorker(service, { app: import.meta.url, servesAdmin: true });
});
