import { readDefaultLayout } from '@deedwire/layout';
import { testLayout } from '@deedwire/layout/test-layout';
import { expect, test } from 'vitest';
import { deployment } from './deployment.ts';
import { findFiles, readText } from './workspace-files.ts';

const { root } = await readDefaultLayout();
const deploy = 'tools/test-service/deploy';

test('another service can take the place of the deployed one, whose files are removed', async () => {
  const units = findFiles('deploy/systemd/deedwire-*-api.service');
  const [, first = ''] = /^FROM runtime AS (\S+-api)$/m.exec(readText('deploy/Containerfile')) ?? [];
  const { files, stale = [] } = deployment({ ...(await testLayout()), root, deploy: 'deploy' });
  const ofInterfaces = stale.filter((path) => !files.has(path));
  expect(ofInterfaces).toHaveLength(2 * units.length);
  expect(files.get('deploy/Containerfile')).toMatch(/^FROM runtime AS customer-api\nEXPOSE 4004 4104\n/m);
  expect(files.get('deploy/kubernetes/apps/supplier-api.yaml')).toContain('supplier-api');
  expect(files.get('deploy/compose/prepare.sh')).toMatch(/^role_prefix=test_service_$/m);
  const naming = [...files].filter(([, text]) => text.includes(first));
  expect(naming).toEqual([]);
});

test('the files of another service are in its folder', async () => {
  const { files } = deployment({ ...(await testLayout()), root: 'tools/another-service', deploy });
  expect([...files.keys()].filter((path) => !path.startsWith(`${deploy}/`))).toEqual([]);
  expect(files.has(`${deploy}/kubernetes/apps/webhook-worker.yaml`)).toBe(true);
});
