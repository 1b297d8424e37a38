import { startInterface, startWorker } from '@deedwire/service';
import { service } from '../deedwire/service.ts';
import './shop.ts';

const app = import.meta.url;
const worker = await startWorker(service, { app });
const customerApi = await startInterface(service, 'customer', { app });

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await Promise.all([worker.stop(), customerApi.stop()]);
    process.exit();
  });
