import { join } from 'node:path';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { receiverKitBlock } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import { installPackages, readJson } from '../../support/installed-packages.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// The block imports a client that Prisma generates, so only an installation outside this workspace shows that it works.

/** The release of Prisma that the page names. It is not in the lockfile: its command line installs 300 MB. */
const release = '7.10.0';
const kit = ['@deedwire/webhook-events', '@deedwire/webhook-receiver', '@deedwire/webhook-signing'];

const schema = `
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

const assertions = `
import assert from 'node:assert/strict';
import { WorkFailedError } from '@deedwire/webhook-receiver';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/prisma/client.ts';
import { prismaStore } from './store.ts';

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
assert.equal(await prisma.referral.count({ where: { id: 'stored' } }), 0);

const results = await Promise.all(Array.from({ length: 9 }, () => store.once('a', effect)));
assert.equal(results.filter((result) => result === 'processed').length, 1);
assert.equal(await store.once('a', effect), 'duplicate');
assert.equal(await prisma.referral.count({ where: { id: 'stored' } }), 1);

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

const tsc = `node ${join(workspaceRoot, 'node_modules/typescript/bin/tsc')} --noEmit --strict --skipLibCheck`;
const target = '--target es2024 --module nodenext --allowImportingTsExtensions --types node';
// Generating does not use the schema engine, but the command would download it unless the variable names a file.
const generate =
  'PRISMA_SCHEMA_ENGINE_BINARY="$(command -v node)" CHECKPOINT_DISABLE=1 npx prisma generate --schema schema.prisma';

test('the pasted block for Prisma compiles and stores what a handler does once', async () => {
  const nodeTypes = readJson(join(workspaceRoot, 'node_modules/@types/node/package.json')).version;
  const prisma = ['prisma', '@prisma/client', '@prisma/adapter-pg'].map((name) => `${name}@${release}`);
  const project = await installPackages(kit, [...prisma, `@types/node@${nodeTypes}`]);
  onTestFinished(() => project.remove());
  const database = await createTestDatabase({ template: 'prisma', prepare: async () => {} });
  onTestFinished(() => database.drop());
  await project.write('store.ts', receiverKitBlock('prismaStore'));
  await project.write('schema.prisma', schema);
  await project.write('assertions.ts', assertions);
  const env = { DATABASE_URL: database.databaseUrl };
  const command = `${generate} >&2 && ${tsc} ${target} assertions.ts && node assertions.ts`;
  expect(await succeed('sh', ['-c', command], { cwd: project.folder, env })).toBe('done\n');
});
