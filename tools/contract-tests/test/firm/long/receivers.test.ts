import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import { examples, gradeOf, installReceiverKit, passed } from '../../support/graded-receivers.ts';
import type { InstalledPackages } from '../../support/installed-packages.ts';
import { lacks } from '../../support/standard-webhooks.ts';

// The receivers of `examples`. `full/installed-receiver-command.test.ts` grades those of the README and in Python.

let project: InstalledPackages;
beforeAll(async () => {
  project = await installReceiverKit();
});
afterAll(() => project.remove());

test.skipIf(lacks(['go']))('the receiver in Go passes every check', async () => {
  const folder = join(project.folder, 'receiver-go');
  await cp(join(examples, 'receiver-go'), folder, { recursive: true });
  await succeed('go', ['build', '-o', 'receiver', '.'], { cwd: folder });
  const database = await createTestDatabase({ template: 'receiver_go_graded', prepare: async () => {} });
  const connection = await connect(database.databaseUrl);
  onTestFinished(async () => {
    await connection.run('drop owned by receiver_go_graded');
    await connection.run('drop role receiver_go_graded');
    await connection.close();
    await database.drop();
  });
  // The server of the tests hashes passwords with one iteration, which the driver for Go refuses.
  await connection.run('set scram_iterations = 4096');
  await connection.run(`create role receiver_go_graded login password 'receiver_go_graded'`);
  await connection.run('grant create on schema public to receiver_go_graded');
  const url = new URL(database.databaseUrl);
  [url.username, url.password] = ['receiver_go_graded', 'receiver_go_graded'];
  // The server has no TLS, which the driver requires by default.
  url.searchParams.set('sslmode', 'disable');
  const log = await project.write('go.log', '');
  const count = ['awk', '/Processed referral.created/ { count += 1 } END { print count + 0 }', log];
  const variables = { DATABASE_URL: url.href };
  expect(await gradeOf(project, { start: ['./receiver'], folder, variables, log, count })).toEqual(passed);
});

/** What a platform does with the module of an example. */
const served = (handle: string): string => `import { serve } from '@hono/node-server';
  import * as example from './example.ts';
  serve({ fetch: (request) => ${handle}, port: Number(process.env.PORT) });`;
const frameworks = {
  node: ['server.mjs'],
  express: ['server.mjs'],
  fastify: ['server.mjs'],
  hono: ['server.mjs'],
  lambda: ['local.mjs'],
  next: [
    'app/webhooks/route.js',
    `request.method === 'POST' ? example.POST(request) : new Response('', { status: 405 })`,
  ],
  workers: [
    'worker.ts',
    `example.default.fetch(request, process.env, { waitUntil() {}, passThroughOnException() {} })`,
  ],
} as const;

test.each(Object.entries(frameworks))('the receiver with %s passes every check', async (name, [file, handle]) => {
  const folder = join(project.folder, `receiver-${name}`);
  await cp(join(examples, `receiver-${name}`), folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  if (handle !== undefined) {
    await cp(join(folder, file), join(folder, 'example.ts'));
    await writeFile(join(folder, 'serve.mjs'), served(handle));
  }
  const log = await project.write(`${name}.log`, '');
  const start = [process.execPath, handle === undefined ? file : 'serve.mjs'];
  const count = ['awk', '/^referral.created/ { count += 1 } END { print count + 0 }', log];
  expect(await gradeOf(project, { start, folder, log, count })).toEqual(passed);
});
