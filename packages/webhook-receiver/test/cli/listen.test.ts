import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { call } from '../support/call.ts';

test('refuses a state that it cannot read, because a new one would lose events', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'webhook-receiver-listen-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const listening = await listen(createServer((_, response) => response.end('{"data":{"webhookListeners":[]}}')));
  onTestFinished(() => listening.close());
  const DEEDWIRE_URL = `http://127.0.0.1:${listening.port}/`;
  const credentials = { CLIENT_ID: 'client', API_KEY: 'key-of-a-client', ORGANIZATION_ID: 'organization' };
  const run = () =>
    call(['listen', '--to', '1', '--types', 'webhook.test'], {
      env: { ...credentials, DEEDWIRE_URL, XDG_STATE_HOME: folder },
    });
  // The API creates no listener. The state has the key of the attempt.
  expect((await run()).exitCode).toBe(1);
  const [name = ''] = (await readdir(join(folder, 'deedwire'))).filter((each) => each.endsWith('.json'));
  const file = join(folder, 'deedwire', name);
  await writeFile(file, '{"key":');
  expect(await run()).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `deedwire-webhook-receiver: ${file} is damaged. Remove it to start again: what happened since the last run is lost.\n`,
  });
});
