import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InterfaceAlarm } from '@deedwire/graphql-server';
import type { WorkerAlarm } from '@deedwire/worker/report-event';
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

const alertsPage = read('docs/operations/alerts.md');
const runbooks = read('docs/operations/runbooks.md');
const rules = read('deploy/prometheus/rules.yml');

/** The rows of a table below a heading: the name, which links to its runbook, the severity, who suffers, what is lost, what to do. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = alertsPage.split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  const cell = String.raw`\| (\S.*?) +`;
  const row = new RegExp(String.raw`^\| \[\x60([\w-]+)\x60\]\(runbooks\.md#([\w-]+)\) +${cell.repeat(4)}\|$`, 'gm');
  return [...table.matchAll(row)].map(([, ...cells]) => cells);
}

const alerts = [...rules.matchAll(/- alert: (\w+)[^]*?severity:\s+(?:>-|(\w+))/g)].map(([, name = '', severity]) => [
  name,
  severity ?? 'by alarm',
]);
/** `rendering-failed` and others have the headings of their alarm. */
const headings = [...runbooks.matchAll(/^### (\S+)$/gm)].map(([, heading]) => heading);

test('the page of alerts has a row for each alarm, in alphabetical order, with its severity', () => {
  expect(rowsBelow('Alarms').map(([name, , severity]) => [name, severity])).toEqual(Object.entries(severities));
});

test('the page of alerts has a row for each alert of Prometheus, in the order of the rules, with its severity', () => {
  expect(alerts.length).toBeGreaterThan(20);
  expect(rowsBelow('Alerts of Prometheus').map(([name, , severity]) => [name, severity])).toEqual(alerts);
});

test('each alert and each alarm has a runbook, to which its row and its notification lead', () => {
  const names = [...alerts.map(([name = '']) => name), ...Object.keys(severities)];
  expect(headings).toEqual(names);
  const rows = [...rowsBelow('Alerts of Prometheus'), ...rowsBelow('Alarms')];
  expect(rows.map(([name = '', anchor]) => [name.toLowerCase(), anchor])).toEqual(
    names.map((name) => [name.toLowerCase(), name.toLowerCase()]),
  );
  const links = [...rules.matchAll(/runbook: '?docs\/operations\/runbooks\.md#(.*?)'?$/gm)].map(([, anchor]) => anchor);
  expect(links).toEqual(
    alerts.map(([name = '']) => (name === 'DeedwireAlarm' ? '{{ $labels.alarm }}' : name.toLowerCase())),
  );
});

test('each runbook says what the impact is, whether data is at risk, when it is over and who helps', () => {
  const [others = ''] = runbooks.split('\n## Alarms\n');
  const sections = others.split('\n### ').filter((section) => !/^(?:# |DeedwireAlarm\n)/.test(section));
  expect(sections.length).toBeGreaterThan(25);
  for (const part of ['- **Impact**: ', '- **Data at risk**: ', '- **Over when** ', '- **Escalate** to ']) {
    const lacking = sections.filter((section) => !section.includes(`\n${part}`));
    expect(lacking.map((section) => section.split('\n', 1))).toEqual([]);
  }
});

test('DeedwireAlarm is critical for the alarms of a loss and of refused changes', () => {
  const [, pattern = ''] = /match "\^\((.*)\)\$"/.exec(rules) ?? [];
  const losses = Object.entries(severities).flatMap(([alarm, severity]) => (severity === 'critical' ? [alarm] : []));
  expect(pattern.split('|')).toEqual(losses);
});

test('only one function logs and counts alarms', () => {
  const sources = globSync('{apps,packages}/*/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  expect(sources.length).toBeGreaterThan(500);
  const writes = /deedwire_alarms_total|\.(?:fatal|error|warn|info|debug|trace)\(\s*\{[^}]*\balarm\b/;
  expect(sources.filter((path) => writes.test(read(path)))).toEqual(['packages/service-runtime/src/alarms.ts']);
});
