import { testService } from '@deedwire/core/test-service';
import { createLogger, type ServerAlarm } from '@deedwire/service-runtime';
import type { Store } from '@deedwire/store';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { type InterfaceAlarm, openPull } from './open-pull.ts';

/** Every alarm of an interface but those of its server, because the type says so. */
const alarms: Record<Exclude<InterfaceAlarm, ServerAlarm>, object> = {
  'webhook-event-missing': { subscriptionId: '1', sequence: 3 },
};

test.each(Object.entries(alarms))('logs and counts the alarm %s', async (alarm, details) => {
  const lines: string[] = [];
  const metrics = new Registry();
  const pull = openPull({
    store: {} as Store,
    interfaceName: 'customer',
    logger: createLogger({ name: 'test', level: 'info', service: testService }, { write: (line) => lines.push(line) }),
    metrics,
  });
  pull.context.reportMissingEvent(details as Parameters<typeof pull.context.reportMissingEvent>[0]);
  pull.release();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'error', alarm, msg: alarm, ...details }]);
  expect(await metrics.metrics()).toContain(`\ndeedwire_alarms_total{alarm="${alarm}"} 1\n`);
});
