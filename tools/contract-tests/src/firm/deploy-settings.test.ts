import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interfaceNames } from '@deedwire/firm';
import { clientServerConfig, httpLimits } from '@deedwire/service-runtime';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const caddyfile = read('deploy/compose/Caddyfile');

test('Caddy closes its idle connections to each interface before the server does', () => {
  const proxies = caddyfile.split('reverse_proxy ').slice(1);
  expect(proxies).toHaveLength(interfaceNames.length);
  for (const proxy of proxies) {
    const [, seconds] = /^\t*keepalive (\d+)s$/m.exec(proxy) ?? [];
    expect(Number(seconds) * 1000).toBeLessThan(httpLimits.keepAliveTimeout);
  }
});

test.each([
  ['4999', false],
  ['5000', true],
  ['650000', true],
  ['650001', false],
])('KEEP_ALIVE_TIMEOUT_MS=%s: %s', (value, isValid) => {
  expect(clientServerConfig.KEEP_ALIVE_TIMEOUT_MS.safeParse(value).success).toBe(isValid);
});

test('containers may read every mounted file under SELinux', () => {
  const mounts = Array.from(read('deploy/compose.yaml').matchAll(/^ +- (\.\/.+)$/gm), ([, mount = '']) => mount);
  expect(mounts.length).toBeGreaterThan(20);
  expect(mounts.filter((mount) => !mount.endsWith(':ro,z'))).toEqual([]);
  // Those that mount the current folder, which must keep its label.
  const [, operator = ''] = /^ {2}operator:\n((?: {4}.*\n)+)/m.exec(read('deploy/compose.yaml')) ?? [];
  const [, podman = ''] = /^exec podman run (.*)/m.exec(read('docs/operations/install-compose.md')) ?? [];
  expect([operator, podman]).toEqual(Array(2).fill(expect.stringContaining('label=disable')));
});

test('each deployment starts a process again, however often it has ended', () => {
  const units = globSync('deploy/systemd/*.service', { cwd: root });
  expect(units).toHaveLength(interfaceNames.length + 1);
  for (const path of units)
    expect(read(path).match(/^(?:StartLimit|Restart)\w*=.*$/gm)).toEqual([
      'StartLimitIntervalSec=0',
      'Restart=always',
      'RestartSec=5',
    ]);
  // Neither `on-failure:5` nor `deploy.restart_policy.max_attempts`.
  const restarts = read('deploy/compose.yaml').match(/^ +restart.*$|max_attempts/gm);
  expect(new Set(restarts)).toEqual(
    new Set(['  restart: unless-stopped', '    restart: unless-stopped', '    restart: on-failure']),
  );
  // Kubernetes starts the containers of a Deployment again, at last every five minutes.
  for (const path of globSync('deploy/kubernetes/apps/*-{api,worker}.yaml', { cwd: root }))
    expect(read(path)).not.toContain('restartPolicy');
});
