import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deployedInterfaces } from '@deedwire/domain';
import { clientServerConfig, httpLimits } from '@deedwire/service-runtime';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
const caddyfile = read('deploy/compose/Caddyfile');
const operationsPage = read('docs/operations.md');

test('every proxy closes its idle connections before the server does', () => {
  const [, table = ''] = /^### Idle connections\n[\s\S]*?^\| -.*\n((?:\|.*\n)+)/m.exec(operationsPage) ?? [];
  const rows = [...table.matchAll(/^\| (.+?) +\| (\d+) s.*? \| (.+?) +\|$/gm)];
  expect(rows.map(([, proxy]) => proxy)).toEqual([
    'Caddy',
    'HAProxy',
    'nginx, ingress-nginx',
    'Traefik',
    'Envoy, Istio',
    'Application Load Balancer of AWS',
    'Application Load Balancer of Google, GKE Ingress',
  ]);
  const wrong = rows.filter(([, , seconds, setting = '']) => {
    const [, ofServer] = /KEEP_ALIVE_TIMEOUT_MS=(\d+)/.exec(setting) ?? [];
    const [, ofProxy] = /(\d+)s`/.exec(setting) ?? [];
    const serverMs =
      ofServer === undefined ? httpLimits.keepAliveTimeout : clientServerConfig.KEEP_ALIVE_TIMEOUT_MS.parse(ofServer);
    return Number(ofProxy ?? seconds) * 1000 >= serverMs;
  });
  expect(wrong).toEqual([]);
});

test('the Caddyfile has this setting for each interface', () => {
  const proxies = caddyfile.split('reverse_proxy ').slice(1);
  expect(proxies).toHaveLength(deployedInterfaces.length);
  for (const proxy of proxies) {
    const [, seconds] = /^\t*keepalive (\d+)s$/m.exec(proxy) ?? [];
    expect(Number(seconds) * 1000).toBeLessThan(httpLimits.keepAliveTimeout);
  }
});

test('the overlay for GKE has the time of the page', () => {
  const [, ofPage] = /`KEEP_ALIVE_TIMEOUT_MS=(\d+)`, as in \[`deploy\/kubernetes\/gke`/.exec(operationsPage) ?? [];
  expect(read('deploy/kubernetes/gke/kustomization.yaml')).toContain(`- KEEP_ALIVE_TIMEOUT_MS=${ofPage}\n`);
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
  const mounts = [
    ...read('deploy/compose.yaml').matchAll(/^ +- (\.\/.+)$/gm),
    ...read('deploy/README.md').matchAll(/--volume="([^"]+)"/g),
  ].map(([, mount = '']) => mount);
  expect(mounts.length).toBeGreaterThan(20);
  expect(mounts.filter((mount) => !mount.endsWith(':ro,z'))).toEqual([]);
});
