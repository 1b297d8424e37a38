import { firm } from '@deedwire/firm';
import { runMain } from '@deedwire/service-runtime';
import { startWorker } from './start-worker.ts';

await runMain(() => startWorker(firm, { app: import.meta.url }));
