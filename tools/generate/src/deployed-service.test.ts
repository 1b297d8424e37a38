import { readLayouts } from '@deedwire/layout';
import { expect, test } from 'vitest';
import { deployedService } from './deployed-service.ts';
import { readText } from './workspace-files.ts';

test('the worker and the command line depend on the deployed service, and on no other', async () => {
  const layouts = await readLayouts();
  const [name = '', ...others] = layouts.map(({ root }): string => JSON.parse(readText(`${root}/package.json`)).name);
  const files = deployedService(layouts)?.files ?? new Map<string, string>();
  for (const app of ['apps/operator-cli', 'apps/webhook-worker']) {
    expect(files.get(`${app}/src/generated/service.ts`)).toContain(`\nexport * from '${name}/service';\n`);
    const { dependencies } = JSON.parse(files.get(`${app}/package.json`) ?? '');
    expect(dependencies).toHaveProperty([name], 'workspace:^');
    expect(Object.keys(dependencies).filter((each) => others.includes(each))).toEqual([]);
  }
});

test('without the deployed service, nothing is written', async () => {
  expect(deployedService((await readLayouts()).slice(1))).toBeNull();
});
