import { testService } from '@deedwire/core/test-service';
import { createLogger, runMain } from '@deedwire/service-runtime';
import { startSampleServer } from './sample-server.ts';

/** A process that serves the sample schema, and writes its log to standard output as every server does. */
await runMain(async () => {
  const logger = createLogger({ name: 'flood', level: 'info', service: testService });
  const server = await startSampleServer({ logger });
  process.on('message', () => {
    void server.metrics
      .getSingleMetricAsString('deedwire_refused_credentials_total')
      .then((text) => process.send?.(text));
  });
  process.send?.(server.port);
  return { logger, stop: () => server.close() };
});
