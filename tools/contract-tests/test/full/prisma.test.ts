import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { npmInstall } from '../support/installed-packages.ts';
import { blocks, kit } from '../support/newcomer.ts';
import { tarballsOf } from '../support/packed-packages.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// The block imports a client that Prisma generates, so only an installation outside this workspace shows that it works.
/** The release of Prisma that the README names. It is not in the lockfile: its command line installs 300 MB. */
const prismaRelease = '7.10.0';

const prismaSchema = `
generator client {
  provider = "prisma-client"
  output   = "./generated/prisma"
}
datasource db {
  provider = "postgresql"
}
model Referral {
  id String @id
  @@map("referral")
}
`;

/** Asserts as a consumer's process, and prints `done`. */
const prismaScript = `
import assert from 'node:assert/strict';
import { WorkFailedError } from '@deedwire/webhook-receiver';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/prisma/client.ts';
import { prismaStore } from './prisma.ts';

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env['DATABASE_URL'] ?? '' }) });
await prisma.$executeRawUnsafe('create table referral (id text primary key)');
const store = prismaStore(prisma);
await store.createTable();
const effect = async (transaction: Parameters<Parameters<typeof store.once>[1]>[0]): Promise<void> => {
  await transaction.referral.create({ data: { id: 'stored' } });
};

await assert.rejects(store.once('a', async (transaction) => {
  await effect(transaction);
  throw new RangeError('failed');
}), RangeError);
await assert.rejects(store.once('a', async (transaction) => {
  await effect(transaction);
  await transaction.$queryRawUnsafe('select 1/0').catch(() => {});
}), WorkFailedError);
assert.equal(await prisma.referral.count(), 0);

const results = await Promise.all(Array.from({ length: 9 }, () => store.once('a', effect)));
assert.equal(results.filter((result) => result === 'processed').length, 1);
assert.equal(await store.once('a', effect), 'duplicate');
assert.equal(await prisma.referral.count(), 1);

const held = Promise.withResolvers<void>();
const started = Promise.withResolvers<void>();
const slow = store.once('b', async () => {
  started.resolve();
  await held.promise;
});
await started.promise;
assert.equal(await store.once('b', effect), 'busy');
held.resolve();
assert.equal(await slow, 'processed');

assert.equal(await store.forget({ ids: ['a', 'unknown'] }), 1);
assert.equal(await store.forget({ since: new Date(0) }), 1);
await prisma.$disconnect();
console.log('done');
`;

test('the block for Prisma compiles, and its store processes a delivery once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-prisma-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const database = await createTestDatabase({ template: 'prisma', prepare: async () => {} });
  onTestFinished(() => database.drop());
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const { version: nodeTypes } = JSON.parse(
    await readFile(join(workspaceRoot, 'node_modules/@types/node/package.json'), 'utf8'),
  );
  const tarballs = await tarballsOf(kit);
  const packages = ['prisma', '@prisma/client', '@prisma/adapter-pg'].map((name) => `${name}@${prismaRelease}`);
  await npmInstall(folder, [...tarballs, ...packages, `@types/node@${nodeTypes}`]);
  await writeFile(join(folder, 'schema.prisma'), prismaSchema);
  await writeFile(join(folder, 'prisma.ts'), blocks.find((code) => code.includes('prismaStore')) ?? '');
  await writeFile(join(folder, 'run.ts'), prismaScript);
  // Generating does not use the schema engine, but the command would download it unless the variable names a file.
  const generating = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  await succeed('npx', ['prisma', 'generate', '--schema', 'schema.prisma'], { cwd: folder, env: generating });

  const tsc = join(workspaceRoot, 'node_modules/typescript/bin/tsc');
  const target = ['--target', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions', '--types', 'node'];
  const options = ['--noEmit', '--strict', '--skipLibCheck', ...target];
  expect(await succeed(process.execPath, [tsc, ...options, 'run.ts'], { cwd: folder })).toBe('');
  const env = { DATABASE_URL: database.databaseUrl };
  expect(await succeed(process.execPath, ['run.ts'], { cwd: folder, env })).toBe('done\n');
});
