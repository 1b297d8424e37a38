import { env } from 'node:process';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { createLogger, readConfig, runMain, runtimeConfig, startService } from '../src/index.ts';

await runMain(async () => {
  const config = readConfig(z.object(runtimeConfig), env);
  await startService({
    config,
    logger: createLogger({ name: 'sample', level: config.LOG_LEVEL }),
    metrics: new Registry(),
    readiness: async () => [],
    close: async () => {},
  });
});
