import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { findProgram, startTcpProxy, type TcpProxy } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const deployFolder = new URL('../../../../deploy/', import.meta.url).pathname;
const isSkipped = findProgram('prometheus') === undefined && process.env['CI'] !== 'true';

interface Alert {
  state: string;
  labels: Record<string, string>;
}

const t = await forFile(startTestSystem());

test.skipIf(isSkipped)(
  'Prometheus fires an alert while a worker cannot reach its database, and clears it',
  async () => {
    const rules = await readFile(join(deployFolder, 'prometheus/rules.yml'), 'utf8');
    const dashboard = await readFile(join(deployFolder, 'grafana/dashboard.json'), 'utf8');
    const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
    const proxy: TcpProxy = await startTcpProxy(await t.database.urlFor('webhook_worker'));
    const worker = await t.system.add('webhook-worker', { DATABASE_URL: proxy.url, WORKER_UNREADY_AFTER_MS: '1000' });
    const targets = [...Object.values(t.system.apps), worker].map(({ adminUrl }) => new URL(adminUrl).host);
    // The alerts wait for minutes. The rest of the rules is as it is.
    await writeFile(join(folder, 'rules.yml'), rules.replaceAll(/for: \d+m/g, 'for: 1s'));
    await writeFile(
      join(folder, 'prometheus.yml'),
      JSON.stringify({
        global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
        rule_files: ['rules.yml'],
        scrape_configs: [{ job_name: 'any', static_configs: [{ targets }] }],
      }),
    );
    const { panels }: { panels: { targets: { expr: string }[] }[] } = JSON.parse(dashboard);
    const expressions = panels.flatMap((panel) => panel.targets.map(({ expr }) => expr));
    const port = await findFreePort();
    const prometheus = spawn(
      'prometheus',
      [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    const ended = new Promise((resolve) => prometheus.once('exit', resolve));
    try {
      // A process of promtool for each would take most of the CPU time of this test.
      const query = async (expression: string): Promise<{ value: [number, string] }[]> => {
        const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
        const response = await fetch(url).catch(() => null);
        if (response === null) return [];
        const text = await response.text();
        if (!response.ok) throw new Error(`${expression}: ${text}`);
        return JSON.parse(text).data.result;
      };
      const countAnswers = async (): Promise<number> => {
        const answers = await Promise.all(expressions.map(query));
        return answers.filter((answer) => answer.length > 0).length;
      };
      const firing = async (): Promise<string[]> => {
        const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => null);
        if (!response?.ok) return ['no response'];
        const { data }: { data: { alerts: Alert[] } } = JSON.parse(await response.text());
        return data.alerts
          .filter(({ state }) => state === 'firing')
          .map(({ labels }) => `${labels['alertname']} ${labels['instance']}`);
      };
      const alert = `DeedwireNotReady ${new URL(worker.adminUrl).host}`;
      await expect.poll(firing).toEqual([]);
      await expect.poll(async () => (await query('sum(up)'))[0]?.value[1]).toBe(String(targets.length));
      // Without requests and deliveries, some rates have no value.
      await expect.poll(countAnswers).toBeGreaterThan(expressions.length / 2);

      await proxy.close();
      await expect.poll(firing).toContain(alert);
      await proxy.open();
      await expect.poll(firing).not.toContain(alert);
    } finally {
      prometheus.kill('SIGKILL');
      await ended;
      await worker.stop();
      await proxy.close();
      await rm(folder, { recursive: true });
    }
  },
);
