import { testService } from '@deedwire/core/test-service';
import { startInterface } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';

const code = async () => (await import('./customer-interface.ts')).customerInterface;
await runMain(() => startInterface(testService, 'customer', { app: import.meta.url, code }));
