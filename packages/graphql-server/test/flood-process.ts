import { testService } from '@deedwire/core/test-service';
import { createLogger } from '@deedwire/service-runtime';
import { startSampleServer } from './sample-server.ts';

/** A process that serves the sample schema, and writes its log to standard output as every server does. */
const { port, metrics } = await startSampleServer({
  logger: createLogger({ name: 'flood', level: 'info', service: testService }),
});
process.on('message', () => {
  void metrics.getSingleMetricAsString('deedwire_refused_credentials_total').then((text) => process.send?.(text));
});
process.send?.(port);
