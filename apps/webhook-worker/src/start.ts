import { runMain } from '@deedwire/service-runtime';
import { startWorker } from './start-worker.ts';

await runMain(async () => {
  const { service } = await import('./generated/service.ts');
  return startWorker(service, { app: import.meta.url, servesAdmin: true });
});
