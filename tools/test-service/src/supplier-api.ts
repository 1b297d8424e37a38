import { testService } from '@deedwire/core/test-service';
import { startInterface } from '@deedwire/graphql-server';
import { runMain } from '@deedwire/service-runtime';

const code = async () => (await import('./supplier-interface.ts')).supplierInterface;
await runMain(() => startInterface(testService, 'supplier', { app: import.meta.url, code }));
