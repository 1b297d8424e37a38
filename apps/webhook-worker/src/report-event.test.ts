import { toRecordId } from '@deedwire/domain';
import { createLogger } from '@deedwire/service-runtime';
import type { EngineEvent } from '@deedwire/webhooks';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { LoopHealth } from './loop-health.ts';
import { createWorkerMetrics } from './metrics.ts';
import { createReporter } from './report-event.ts';

const delivery: Extract<EngineEvent, { kind: 'attempt' }>['delivery'] = {
  deliveryId: toRecordId('7'),
  subscriptionId: toRecordId('1'),
  accountId: toRecordId('1'),
  eventId: toRecordId('1'),
  eventType: 'referral.created',
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
  const report = createReporter({
    logger: createLogger({ name: 'test', level: 'info' }, { write: (line) => lines.push(line) }),
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
  return { report, registry, logged: () => lines.map((line) => JSON.parse(line)) };
}

test('logs why the host of an attempt could not be called', () => {
  const { report, logged } = startReporting();
  report({
    kind: 'attempt',
    urlNumber: 1,
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
