import { createRequire } from 'node:module';
import { firm } from '@deedwire/firm';
import { runMain } from '@deedwire/service-runtime';
import { startWorker } from './start-worker.ts';

// `require`, because an import of a file outside of `src` does not compile.
const { version }: { version: string } = createRequire(import.meta.url)('../package.json');

await runMain(() => startWorker(firm, version));
