import { testService } from '@deedwire/core/test-service';
import { runMain } from '@deedwire/service-runtime';
import { startWorker } from '@deedwire/webhook-worker/start-worker';

await runMain(() => startWorker(testService, { app: import.meta.url }));
