import { Session } from 'node:inspector/promises';
import { testService } from '@deedwire/core/test-service';
import { createLogger } from '@deedwire/service-runtime';
import { key, startSampleServer } from './sample-server.ts';

/** Serves with the log on standard output. At a message, it begins to sample what it allocates; at the next, it says how much of that is left. */

const server = await startSampleServer({
  logger: createLogger({ name: 'sample', level: 'info', service: testService }),
});
const session = new Session();
session.connect();

interface Node {
  selfSize: number;
  children: Node[];
}

const sizeOf = ({ selfSize, children }: Node): number => children.reduce((sum, child) => sum + sizeOf(child), selfSize);

process.on('message', (message) => void answer(message));

async function answer(message: unknown): Promise<void> {
  if (message === 'start') {
    await collect();
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: 1024,
      // What a minor collection frees is left out. What only a major one frees has survived minor ones.
      includeObjectsCollectedByMajorGC: true,
    });
    process.send?.('started');
  } else {
    await collect();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    process.send?.(sizeOf(profile.head));
  }
}

/** What is left after two minor collections has moved to the old generation. */
async function collect(): Promise<void> {
  for (let count = 0; count < 2; count += 1) await globalThis.gc?.({ type: 'minor', execution: 'async' });
}

process.send?.({ port: server.port, apiKey: key.apiKey });
