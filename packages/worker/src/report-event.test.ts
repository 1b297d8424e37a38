import { toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { createAlarms, createLogger, type ServerAlarm } from '@deedwire/service-runtime';
import type { Database } from '@deedwire/store';
import type { EngineEvent } from '@deedwire/webhooks';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createDatabaseClock } from './database-clock.ts';
import { LoopHealth } from './loop-health.ts';
import { createWorkerMetrics } from './metrics.ts';
import { createReporter, type WorkerAlarm } from './report-event.ts';

const delivery: Extract<EngineEvent, { kind: 'attempt' }>['delivery'] = {
  deliveryId: toRecordId('7'),
  subscriptionId: toRecordId('1'),
  accountId: toRecordId('1'),
  eventId: toRecordId('1'),
  eventType: 'order.placed',
  eventVersion: '2026-11-01',
  occurredAt: new Date(0),
  requestId: 'request-1',
  isTest: false,
  sequence: '1',
  attempts: 0,
  priorAttempts: 0,
  replayId: null,
  claims: [new Date('2027-01-31T09:00:00Z')],
  dueAtMs: 0,
  body: new Uint8Array(),
};

function startReporting() {
  const lines: string[] = [];
  const registry = new Registry();
  const logger = createLogger(
    { name: 'test', level: 'info', service: testService },
    { write: (line) => lines.push(line) },
  );
  const raiseAlarm = createAlarms<WorkerAlarm>(registry, logger);
  const report = createReporter({
    logger,
    raiseAlarm,
    metrics: createWorkerMetrics(registry, () => ({
      inFlight: 0,
      unsettled: 0,
      queued: 0,
      lanes: 0,
      shards: 0,
      blocked: 0,
      breakers: () => ({ closed: 0, open: 0, halfOpen: 0 }),
      queue: null,
    })),
    loops: new LoopHealth({ limitMs: 60_000, nowMs: () => 0, onFailed: () => {} }),
    gidNamespace: 'service',
    now: () => new Date(0),
  });
  return { report, raiseAlarm, registry, logged: () => lines.map((line) => JSON.parse(line)) };
}

test('logs why the host of an attempt could not be called', () => {
  const { report, logged } = startReporting();
  report({
    kind: 'attempt',
    urlNumber: 1,
    isHeaderDropped: false,
    delivery,
    number: 1,
    result: {
      startedAt: new Date(0),
      durationMs: 1000,
      responseStatus: null,
      error: 'DNS_FAILED',
      retryAfter: null,
      hostProblem: { host: 'vault.corp.example', found: '10.1.2.3 is not public' },
    },
    next: { kind: 'failed' },
  });
  expect(logged()).toMatchObject([
    {
      msg: 'attempt',
      requestId: 'request-1',
      deliveryId: 'gid://service/WebhookDelivery/7',
      subscriptionId: 'gid://service/WebhookSubscription/1',
      error: 'DNS_FAILED',
      host: 'vault.corp.example',
      found: '10.1.2.3 is not public',
    },
  ]);
});

test('logs statistics that were not stored, and adds to the metric those that are lost', async () => {
  const { report, registry, logged } = startReporting();
  report({ kind: 'statistics-not-stored', hours: 2, error: new Error('timeout') });
  report({ kind: 'statistics-dropped', count: 3 });
  expect(await registry.metrics()).toContain('\ndeedwire_webhook_statistics_lost_total 3\n');
  expect(logged()).toMatchObject([
    { msg: 'statistics-not-stored', hours: 2, err: { message: 'timeout' } },
    { msg: 'statistics-dropped', count: 3 },
  ]);
});

/**
 * Every alarm of this app but those of its server, because the type says so. What the engine reports has only the fields that the log
 * shows otherwise.
 */
const alarms: Record<Exclude<WorkerAlarm, ServerAlarm>, object> = {
  'attempt-broken': { delivery, error: new Error('broken') },
  'backlog-failed': { shard: 3, error: new Error('broken') },
  'change-failed': { subscription: '1', error: new Error('broken') },
  'clock-wrong': {},
  'delivery-given-up': { delivery },
  'entries-blocked': {},
  'entry-given-up': {},
  'entry-refused': { error: new Error('broken') },
  'event-missing': {},
  'events-expired': { count: 2 },
  'fan-out-fenced': {},
  'lane-refused': { error: new Error('broken') },
  'lane-stopped': {},
  'partitions-overdue': {},
  'partitions-short': {},
  'payload-missing': {},
  'proxy-failed': {},
  'rendering-failed': { error: new Error('broken') },
  'replay-refused': { error: new Error('broken') },
  'secret-unreadable': {},
  'sequence-behind': {},
  'settlement-refused': { delivery, error: new Error('broken') },
  'settling-stalled': {},
};

test.each(Object.entries(alarms))('logs and counts the alarm %s', async (kind, fields) => {
  const { report, raiseAlarm, registry, logged } = startReporting();
  if (kind === 'clock-wrong') {
    const store = { query: async () => [{ time: new Date(0) }] } as unknown as Database;
    const machine = { now: () => 60_001, monotonicMs: () => 0 };
    await createDatabaseClock({ store, raiseAlarm, machine }).read();
  } else report({ kind, alarm: true, ...fields } as EngineEvent);
  expect(logged()).toMatchObject([{ level: 'error', alarm: kind, msg: kind }]);
  expect((await registry.metrics()).match(/^deedwire_alarms_total.*$/gm)).toEqual([
    `deedwire_alarms_total{alarm="${kind}"} 1`,
  ]);
  for (const name of ['delivery', 'error']) expect(logged()[0]).not.toHaveProperty(name);
});

test('counts attempts without the request header of their subscription', async () => {
  const { report, registry } = startReporting();
  const result = { startedAt: new Date(0), durationMs: 1, responseStatus: 401, error: null, retryAfter: null };
  for (const isHeaderDropped of [false, true, true])
    report({ kind: 'attempt', urlNumber: 1, isHeaderDropped, delivery, number: 1, result, next: { kind: 'failed' } });
  expect(await registry.metrics()).toContain('\ndeedwire_webhook_attempts_without_header_total 2\n');
});
