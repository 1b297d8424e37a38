import { readDefaultLayout } from '@deedwire/layout';
import { testLayout } from '@deedwire/layout/test-layout';
import { expect, test } from 'vitest';
import { deployment } from './deployment.ts';

const deployed = await readDefaultLayout();
const deploy = 'tools/test-service/deploy';

test('another service can take the place of the deployed one, whose files are removed', async () => {
  const { root } = deployed;
  const { files, stale = [] } = deployment({ ...(await testLayout()), root, deploy: 'deploy' });
  const ofInterfaces = stale.filter((path) => !files.has(path));
  expect(ofInterfaces).toHaveLength(2 * deployed.interfaceNames.length);
  expect(files.get('deploy/Containerfile')).toMatch(/^FROM runtime AS customer-api\nEXPOSE 4004 4104\n/m);
  expect(files.get('deploy/kubernetes/apps/supplier-api.yaml')).toContain('supplier-api');
  expect(files.get('deploy/compose/prepare.sh')).toMatch(/^role_prefix=test_service_$/m);
  const [first = ''] = deployed.interfaceNames;
  const naming = [...files].filter(([, text]) => text.includes(`${first}-api`));
  expect(naming).toEqual([]);
});

test('the files of another service are in its folder', async () => {
  const { files } = deployment({ ...(await testLayout()), deploy });
  expect([...files.keys()].filter((path) => !path.startsWith(`${deploy}/`))).toEqual([]);
  expect(files.has(`${deploy}/kubernetes/apps/webhook-worker.yaml`)).toBe(true);
});
