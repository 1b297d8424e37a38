import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appOf } from '@deedwire/core';
import { interfaceNames } from '@deedwire/core/test-service';
import type { RunningApp } from '@deedwire/dev-environment';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { findProgram, postGraphql } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const rulesFolder = new URL('../../../../deploy/prometheus/', import.meta.url).pathname;
const metricsPage = new URL('../../../../docs/operations/metrics.md', import.meta.url).pathname;
const isWithoutPrometheus =
  (findProgram('promtool') === undefined || findProgram('prometheus') === undefined) && process.env['CI'] !== 'true';

const metricsOf = async ({ adminUrl }: Pick<RunningApp, 'adminUrl'>): Promise<string> =>
  (await fetch(`${adminUrl}/metrics`)).text();

const rules = await readFile(join(rulesFolder, 'rules.yml'), 'utf8');
const page = await readFile(metricsPage, 'utf8');
const dashboard = await readFile(join(rulesFolder, '../grafana/dashboard.json'), 'utf8');
const t = await forFile(startTestSystem({ appEnv: { 'webhook-worker': { DEEDWIRE_COMMIT: '0123abc' } } }));
for (const name of ['customer', 'supplier'] as const)
  await postGraphql(t.urls[name], t.accounts[name].credential, { query: `{ ${name} { name } }` });
// The worker reads the state of the queue every 30 s, once it owns shards.
while (!(await metricsOf(t.system.apps['webhook-worker'])).includes('deedwire_webhook_partitions_ahead{'))
  await sleep(100);
/** What each app exports. */
const exported: Record<string, string> = {};
for (const [name, app] of Object.entries(t.system.apps)) exported[name] = await metricsOf(app);

/** Runs promtool. Returns what it printed and its exit code. */
function promtool(commandArguments: readonly string[], input?: string): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile('promtool', commandArguments, { cwd: rulesFolder }, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

const names = (text: string): string[] => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);

test.skipIf(isWithoutPrometheus).each([...interfaceNames.map(appOf), 'webhook-worker'])(
  'promtool finds nothing wrong with the metrics of %s',
  async (app) => {
    expect(await promtool(['check', 'metrics'], exported[app])).toEqual({ exitCode: 0, output: '' });
  },
);

test('the metrics have one prefix, except those of the process and of Node', () => {
  expect(Object.keys(exported)).toHaveLength(3);
  for (const text of Object.values(exported)) {
    const own = names(text).filter((name) => !/^(process|nodejs)_/.test(name));
    expect(own.length).toBeGreaterThan(8);
    expect(own.filter((name) => !name.startsWith('deedwire_'))).toEqual([]);
  }
});

test('the info metric has the version and the commit, and others what is left to do', async () => {
  const worker = exported['webhook-worker'] ?? '';
  expect(worker).toMatch(
    /^deedwire_build_info\{app="webhook-worker",version="\d+\.\d+\.\d+",commit="0123abc",cell="0"\} 1$/m,
  );
  expect(exported['supplier-api']).toMatch(
    /^deedwire_build_info\{app="supplier-api",version="\d+\.\d+\.\d+",commit="unknown",cell="0"\} 1$/m,
  );
  expect(worker.split('\n')).toEqual(
    expect.arrayContaining([
      'deedwire_ready{cell="0"} 1',
      // Keys were created before the worker started.
      expect.stringMatching(/^deedwire_events_queued\{cell="0"\} \d+$/),
      expect.stringMatching(/^deedwire_webhook_deliveries_pending\{cell="0"\} \d+$/),
      expect.stringMatching(/^deedwire_webhook_oldest_due_seconds\{cell="0"\} \S+$/),
      'deedwire_webhook_breakers{state="open",cell="0"} 0',
      'deedwire_webhook_subscriptions_paused{reason="FAILING",cell="0"} 0',
      'deedwire_database_waiting{pool="lease",cell="0"} 0',
    ]),
  );
});

/** The expressions of all panels of a dashboard of Grafana. */
function expressionsOf(text: string): string[] {
  const { panels }: { panels: { targets: { expr: string }[] }[] } = JSON.parse(text);
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

const alerts = (text: string): string[] => [...text.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);

test('the dashboard reads metrics that exist', () => {
  const known = new Set(Object.values(exported).flatMap(names));
  const expressions = expressionsOf(dashboard);
  expect(expressions.length).toBeGreaterThan(20);
  const read = new Set(
    expressions.flatMap((expression) => expression.match(/\b(?:deedwire|process|nodejs)_\w+/g) ?? []),
  );
  expect([...read].filter((name) => !known.has(name.replace(/_(count|bucket)$/, '')))).toEqual([]);
});

/** What a process exports, as items of a list: the name and the help. */
function helpOf(text: string): string[] {
  return [...text.matchAll(/^# HELP (deedwire_\S+) (.*)$/gm)].map(
    ([, name = '', help = '']) => `- \`${name}\`: ${help}`,
  );
}

// `vitest -u` writes the page.
test('the page lists each metric with its help', async () => {
  const worker = helpOf(exported['webhook-worker'] ?? '');
  const [api = []] = interfaceNames.map((name) => helpOf(exported[appOf(name)] ?? ''));
  const lists = [
    ['Every server:', worker.filter((item) => api.includes(item))],
    ['Interfaces:', api.filter((item) => !worker.includes(item))],
    ['`webhook-worker`:', worker.filter((item) => !api.includes(item))],
  ] as const;
  const region = lists.flatMap(([title, items]) => [title, items.toSorted().join('\n')]).join('\n\n');
  const [before = '', rest = ''] = page.split('<!-- metrics -->\n');
  const [, after = ''] = rest.split('<!-- /metrics -->');
  await expect(`${before}<!-- metrics -->\n\n${region}\n\n<!-- /metrics -->${after}`).toMatchFileSnapshot(metricsPage);
});

test('each alert reads metrics that exist, and has a test', async () => {
  const tested = await readFile(join(rulesFolder, 'rules.test.yml'), 'utf8');
  const known = new Set(Object.values(exported).flatMap(names));
  const read = new Set(rules.match(/\b(?:deedwire|process|nodejs)_\w+/g));
  expect([...read].filter((name) => !known.has(name.replace(/_count$/, '')))).toEqual([]);
  expect(alerts(rules).length).toBeGreaterThan(10);
  for (const name of alerts(rules)) {
    expect(tested).toContain(`alertname: ${name}\n`);
  }
});

// `full/operations.test.ts` sees one in Prometheus, and `compose.test.ts` of the deployments sees it cleared.
test.skipIf(isWithoutPrometheus)('each alert fires and clears', async () => {
  expect(await promtool(['check', 'rules', 'rules.yml'])).toMatchObject({ exitCode: 0 });
  expect(await promtool(['test', 'rules', 'rules.test.yml'])).toMatchObject({ exitCode: 0 });
});

test.skipIf(isWithoutPrometheus)('Prometheus can evaluate each expression of the dashboard', async () => {
  const panels = expressionsOf(dashboard).map((expr, index) => ({ record: `panel_${index}`, expr }));
  const { path: folder } = await forTest(temporaryFolder('dashboard'));
  await writeFile(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules: panels }] }));
  expect(await promtool(['check', 'rules', join(folder, 'rules.yml')])).toMatchObject({ exitCode: 0 });
});
