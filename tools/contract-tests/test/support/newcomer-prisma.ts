import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, storeServer } from './newcomer-row.ts';
import { workspaceRoot } from './workspace-copy.ts';

/** The release of Prisma that the README names. It is not in the lockfile: its command line installs 300 MB. */
const release = '7.10.0';

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

/** Asserts as a consumer's process, and prints `done`. */
const assertions = `
import assert from 'node:assert/strict';
import { WorkFailedError } from '@deedwire/webhook-receiver';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/prisma/client.ts';
import { prismaStore } from './store.ts';

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env['DATABASE_URL'] ?? '' }) });
const store = prismaStore(prisma);
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
// The other one was delivered.
assert.equal(await store.forget({ since: new Date(0) }), 2);
await prisma.$disconnect();
console.log('done');
`;

const server = storeServer({
  imports: [
    `import { PrismaPg } from '@prisma/adapter-pg';`,
    `import { PrismaClient } from './generated/prisma/client.ts';`,
    `import { prismaStore } from './store.ts';`,
  ],
  open: `
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env['DATABASE_URL'] ?? '' }) });
    await prisma.$executeRawUnsafe('create table referral (id text primary key)');
    const store = prismaStore(prisma);
    await store.createTable();
  `,
  handler: `({ data }, { transaction }) => void (await transaction.referral.create({ data: { id: data.referralId } }))`,
});

const { version: nodeTypes } = JSON.parse(
  readFileSync(join(workspaceRoot, 'node_modules/@types/node/package.json'), 'utf8'),
);
const tsc = join(workspaceRoot, 'node_modules/typescript/bin/tsc');
const target = '--target es2024 --module nodenext --allowImportingTsExtensions --types node';

/** The block imports a client that Prisma generates, so only an installation outside this workspace shows that it works. */
export const prismaRow: Omit<Row, 'block'> = {
  framework: 'Prisma',
  packages: [
    ...['prisma', '@prisma/client', '@prisma/adapter-pg'].map((name) => `${name}@${release}`),
    `@types/node@${nodeTypes}`,
  ],
  file: 'store.ts',
  // Generating does not use the schema engine, but the command would download it unless the variable names a file.
  start: `PRISMA_SCHEMA_ENGINE_BINARY="$(command -v node)" CHECKPOINT_DISABLE=1 npx prisma generate --schema schema.prisma && exec node serve.ts`,
  otherFiles: { 'schema.prisma': schema, 'serve.ts': server, 'assertions.ts': assertions },
  afterwards: `node ${tsc} --noEmit --strict --skipLibCheck ${target} serve.ts assertions.ts && node assertions.ts`,
};
