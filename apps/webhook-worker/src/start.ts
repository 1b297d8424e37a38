import { runMain } from '@deedwire/service-runtime';
import { startWorker } from './start-worker.ts';

await runMain(async () => {
  const { firm } = await import('@deedwire/firm');
  return startWorker(firm, { app: import.meta.url });
});
