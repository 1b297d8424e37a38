import { env } from 'node:process';
import { testService } from '@deedwire/core/test-service';
import { Registry } from 'prom-client';
import { z } from 'zod';
import {
  clientServerConfig,
  createLogger,
  doLater,
  readConfig,
  renderRefusal,
  requestPath,
  runMain,
  runtimeConfig,
  startService,
} from '../src/index.ts';

/** A service that writes a line of 10 kB for each request. The path `/crash` throws outside of any handler. */
await runMain(async () => {
  const config = readConfig(z.object({ ...runtimeConfig, ...clientServerConfig }), env);
  const logger = createLogger({ name: 'sample', level: config.LOG_LEVEL, service: testService });
  return startService({
    app: 'sample',
    servesAdmin: true,
    version: '1.2.3',
    config: { ...config, DOCUMENTATION_URL: 'https://docs.example' },
    logger,
    metrics: new Registry(),
    clients: {
      config,
      async handle(request) {
        logger.info({ text: 'x'.repeat(10_000) }, 'request');
        if (requestPath(request) === '/crash') {
          setImmediate(() => {
            doLater(() => logger.info('a later line'));
            logger.info('the last line');
            throw new Error('a bug');
          });
        }
        return { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{}' };
      },
      renderRefusal,
    },
    readiness: async () => [],
    close: async () => {},
  });
});
