import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { compileCache, listen } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { call } from '../../support/call.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test('refuses a state that it cannot read, because a new one would lose events', async () => {
  const folder = await tempFolder();
  const api = createServer((_, response) => response.end('{"data":{"webhookListeners":[]}}'));
  const { port } = await forTest(listen(api));
  const DEEDWIRE_URL = `http://127.0.0.1:${port}/`;
  const credentials = { CLIENT_ID: 'client', API_KEY: 'key-of-a-client', ORGANIZATION_ID: 'organization' };
  const run = () =>
    call(['listen', '--to', '1', '--types', 'webhook.test'], {
      env: { ...credentials, DEEDWIRE_URL, XDG_STATE_HOME: folder },
    });
  // The API creates no listener. The state has the key of the attempt.
  expect((await run()).exitCode).toBe(4);
  const [name = ''] = (await readdir(join(folder, 'deedwire'))).filter((each) => each.endsWith('.json'));
  const file = join(folder, 'deedwire', name);
  await writeFile(file, '{"key":');
  expect(await run()).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `deedwire-webhook-receiver: ${file} is damaged. Remove it to start again: events since the last run are lost.\n`,
  });
  await rm(file);
  await mkdir(file);
  expect((await run()).stderr).toBe(`deedwire-webhook-receiver: ${file} cannot be read: EISDIR.\n`);
});

const bin = fileURLToPath(new URL('../../../src/bin.ts', import.meta.url));

test('lets one of several processes replace one that was killed', async () => {
  const folder = await tempFolder();
  // It holds what its listener reads, until the test has ended.
  const data = { webhookListeners: [{ id: 'a' }], payload: { webhookListener: { id: 'a' }, userErrors: [] } };
  const api = createServer((request, response) => {
    void text(request).then((query) => query.includes('webhookEvents') || response.end(JSON.stringify({ data })));
  });
  const { port } = await forTest(listen(api));
  const env = {
    HEADER_PREFIX: 'X-Service',
    CLIENT_ID: 'client',
    API_KEY: 'key-of-a-client',
    ORGANIZATION_ID: 'organization',
    XDG_STATE_HOME: folder,
    DEEDWIRE_URL: `http://127.0.0.1:${port}/`,
    ...compileCache,
  };
  const start = () => {
    const child = spawn(
      process.execPath,
      ['--conditions=deedwire-source', bin, 'listen', '--to', '1', '--types', 'webhook.test'],
      { env },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const first = start();
  await once(first.stdout, 'data');
  first.kill('SIGKILL');
  await once(first, 'close');
  const children = Array.from({ length: 5 }, start);
  const results = children.map(async (child) => {
    const closed = once(child, 'close');
    const ready = once(child.stdout, 'data').then(() => 'ready');
    return Promise.race([ready, closed.then(([exitCode]) => exitCode)]);
  });
  const outcomes = await Promise.all(results);
  expect(outcomes.filter((outcome) => outcome === 'ready')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 1)).toHaveLength(4);
});
