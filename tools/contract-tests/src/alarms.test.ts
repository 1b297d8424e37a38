import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InterfaceAlarm } from '@deedwire/graphql-server';
import type { WorkerAlarm } from '@deedwire/webhook-worker/report-event';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Every alarm, because the types say so. `critical`: events or deliveries are lost, or changes refused, unless an operator acts. */
const severities: Record<WorkerAlarm | InterfaceAlarm, 'critical' | 'warning'> = {
  'attempt-broken': 'warning',
  'backlog-failed': 'warning',
  'change-failed': 'warning',
  'clock-wrong': 'warning',
  'database-exhausted': 'critical',
  'delivery-given-up': 'critical',
  'entries-blocked': 'warning',
  'entry-given-up': 'critical',
  'entry-refused': 'warning',
  'event-missing': 'critical',
  'events-expired': 'critical',
  'fan-out-fenced': 'warning',
  'lane-refused': 'warning',
  'lane-stopped': 'warning',
  'partitions-overdue': 'warning',
  'partitions-short': 'warning',
  'payload-missing': 'critical',
  'proxy-failed': 'warning',
  'publication-refuses': 'critical',
  'rendering-failed': 'critical',
  'replay-refused': 'warning',
  'request-broken': 'warning',
  'secret-unreadable': 'warning',
  'sequence-behind': 'warning',
  'settlement-refused': 'warning',
  'settling-stalled': 'warning',
  'webhook-event-missing': 'critical',
};

test('docs/operations.md has a row for each alarm, in alphabetical order, with its severity', () => {
  const [, section = ''] = read('docs/operations.md').split('\n### DeedwireAlarm\n');
  const [table = ''] = section.split('\n### ');
  const rows = [...table.matchAll(/^\| `([a-z-]+)` +\| (\w+) +\| \S.* \| \S.* \|$/gm)].map(([, ...cells]) => cells);
  expect(rows).toEqual(Object.entries(severities));
});

test('DeedwireAlarm is critical for the alarms of a loss and of refused changes', () => {
  const [, pattern = ''] = /match "\^\((.*)\)\$"/.exec(read('deploy/prometheus/rules.yml')) ?? [];
  const losses = Object.entries(severities).flatMap(([alarm, severity]) => (severity === 'critical' ? [alarm] : []));
  expect(pattern.split('|')).toEqual(losses);
});

test('only one function logs and counts alarms', () => {
  const sources = globSync('{apps,packages}/*/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  expect(sources.length).toBeGreaterThan(500);
  const writes = /deedwire_alarms_total|\.(?:fatal|error|warn|info|debug|trace)\(\s*\{[^}]*\balarm\b/;
  expect(sources.filter((path) => writes.test(read(path)))).toEqual(['packages/service-runtime/src/alarms.ts']);
});
