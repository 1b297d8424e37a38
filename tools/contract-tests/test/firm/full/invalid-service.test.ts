import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Loads a service without an interface instead of that of the application. */
const hooks = `
  import { registerHooks } from 'node:module';
  const names = { service: 'acme', gidNamespace: 'acme', apiKeyPrefix: 'ak', headerPrefix: 'X-Acme', userAgent: 'Acme' };
  const source = \`
    import { defineService } from '@deedwire/core';
    export const firm = defineService({ names: \${JSON.stringify(names)}, interfaces: {} });\`;
  registerHooks({
    load: (url, context, nextLoad) =>
      url.endsWith('/packages/firm/src/index.ts') ? { format: 'module', source, shortCircuit: true } : nextLoad(url, context),
  });`;

function start(app: string, ...commandArguments: string[]) {
  const main = new URL(`../../../../../apps/${app}/src/main.ts`, import.meta.url).pathname;
  const flags = ['--conditions=deedwire-source', `--import=data:text/javascript,${encodeURIComponent(hooks)}`];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, main, ...commandArguments], {
    encoding: 'utf8',
  });
  return { stdout, stderr, status };
}

test.each(['lender-api', 'partner-api', 'webhook-worker'])('%s names the faults of its service once', (app) => {
  expect(start(app)).toEqual({
    stdout: '',
    stderr: 'The service is not valid:\n- It needs an interface.\n',
    status: 1,
  });
});

test('the command line names the faults of its service, as JSON with --json', () => {
  expect(start('operator-cli', 'account', 'list')).toEqual({
    stdout: '',
    stderr: 'error: The service is not valid:\n- It needs an interface.\n',
    status: 1,
  });
  const { stderr, status } = start('operator-cli', 'account', 'list', '--json');
  expect([JSON.parse(stderr), status]).toEqual([
    { error: { code: 'FAILED', message: 'The service is not valid:\n- It needs an interface.' } },
    1,
  ]);
});
