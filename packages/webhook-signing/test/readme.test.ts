import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compileBlocks } from '@deedwire/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const packageFolder = fileURLToPath(new URL('..', import.meta.url));

// The folder of a consumer project in which this package is installed.
let project = '';
let blocks: string[] = [];

beforeAll(async () => {
  const readme = await readFile(join(packageFolder, 'README.md'), 'utf8');
  blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  project = await mkdtemp(join(tmpdir(), 'webhook-signing-readme-'));
  await mkdir(join(project, 'node_modules/@deedwire'), { recursive: true });
  await symlink(packageFolder, join(project, 'node_modules/@deedwire/webhook-signing'), 'dir');
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  await Promise.all(blocks.map((code, index) => writeFile(join(project, `block-${index}.ts`), code)));
});

afterAll(() => rm(project, { recursive: true }));

it('contains the code blocks that the tests below run', () => {
  expect(blocks.map((code) => /export (?:default|const|function) ?(\w*)/.exec(code)?.[1])).toEqual([
    'server',
    '',
    'handshakeResponse',
    'secret',
    'verify',
  ]);
});

it('compiles', async () => {
  expect(await compileBlocks(project, 'block-*.ts')).toBe('');
});

it('runs as documented', async () => {
  await writeFile(
    join(project, 'run.ts'),
    `
    import assert from 'node:assert/strict';
    import { once } from 'node:events';
    import { body, headers, secret } from './block-3.ts';

    process.env['WEBHOOK_SECRET'] = secret;
    const { server } = await import('./block-0.ts');
    const { default: worker } = await import('./block-1.ts');
    const { handshakeResponse } = await import('./block-2.ts');
    const { verify } = await import('./block-4.ts');

    const forged = { ...headers, 'webhook-signature': 'v1,' + Buffer.alloc(32).toString('base64') };
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = 'http://127.0.0.1:' + server.address().port;
    const statuses = [];
    for (const sent of [headers, forged]) {
      statuses.push((await fetch(url, { method: 'POST', body, headers: sent })).status);
      const request = new Request(url, { method: 'POST', body, headers: sent });
      statuses.push((await worker.fetch(request, { WEBHOOK_SECRET: secret })).status);
    }
    server.close();
    assert.deepEqual(statuses, [204, 204, 401, 401]);

    assert.equal(handshakeResponse('{"verification_token":"a"}'), '{"verification_token":"a"}');
    assert.equal(handshakeResponse('{"verification_token":"a","type":"b"}'), null);
    assert.equal(handshakeResponse('{"type":"b"}'), null);
    assert.equal(handshakeResponse('not JSON'), null);

    assert.equal(verify(headers, Buffer.from(body)), 'gid://service/WebhookDelivery/1');
    process.env['WEBHOOK_SECRET_NEXT'] = process.env['WEBHOOK_SECRET'];
    process.env['WEBHOOK_SECRET'] = 'whsec_' + Buffer.alloc(32).toString('base64');
    assert.equal(verify(headers, Buffer.from(body)), 'gid://service/WebhookDelivery/1');
    `,
  );
  const { stdout } = await run(process.execPath, ['--conditions=deedwire-source', join(project, 'run.ts')]);
  expect(stdout.match(/^authentic gid:\/\/service\/WebhookDelivery\/1 /gm)).toHaveLength(2);
});

it('describes a recipe that agrees with the test vectors', async () => {
  const vectors = JSON.parse(await readFile(join(packageFolder, 'test-vectors.json'), 'utf8'));
  for (const { secret, timestamp, body, bodyBase64, headers } of vectors.sign) {
    const bytes = body === undefined ? Buffer.from(bodyBase64, 'base64') : Buffer.from(body);
    const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(bytes).digest('hex');
    expect(headers['x-service-webhook-signature']).toBe(expected);
  }
});
