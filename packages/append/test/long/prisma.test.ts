import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { forTest } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';
import { createShopDatabase } from '../support/shop.ts';

// Prisma generates a client from a schema, so only an installation outside this workspace has one. Its command line is 300 MB.

const release = '7.10.0';
const workspaceRoot = join(import.meta.dirname, '../../../..');

const schema = `
generator client {
  provider = "prisma-client"
  output   = "./generated/prisma"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id     String @id @db.Uuid
  status String
  @@map("order")
}
`;

const assertions = `
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { append, createAccount, fromPrisma, NotInTransactionError, wake } from '${workspaceRoot}/packages/append/src/index.ts';
import { orderPaid, snapshotOf } from '${workspaceRoot}/packages/append/test/support/shop.ts';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/prisma/client.ts';

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env['DATABASE_URL'] ?? '' }) });
const queued = async (): Promise<unknown> =>
  prisma.$queryRawUnsafe(\`select e.snapshot #>> '{order,id}' as "order" from deedwire.webhook_event e join deedwire.webhook_event_queue q on q.event_id = e.id\`);

const before = await queued();
const [committed, failed] = [randomUUID(), randomUUID()];
await prisma.$transaction(async (tx) => {
  const gid = await createAccount(fromPrisma(tx), { interface: 'customer', externalId: 'c-2', name: "O'Neil" });
  assert.match(gid, /^gid:\\/\\/shop\\/Customer\\/\\d+$/);
  await tx.order.create({ data: { id: committed, status: 'PAID' } });
  assert.match(await append(fromPrisma(tx), orderPaid, 'c-2', snapshotOf(committed)), /^\\d+$/);
  assert.deepEqual(await queued(), before);
});
assert.deepEqual(await queued(), [{ order: committed }]);
await wake(fromPrisma(prisma), 'c-2');

await assert.rejects(
  prisma.$transaction(async (tx) => {
    await tx.order.create({ data: { id: failed, status: 'PAID' } });
    await append(fromPrisma(tx, { schema: 'deedwire' }), orderPaid, 'c-2', snapshotOf(failed));
    throw new RangeError('undone');
  }),
  RangeError,
);
await assert.rejects(append(fromPrisma(prisma), orderPaid, 'c-2', snapshotOf(failed)), NotInTransactionError);
assert.deepEqual(await queued(), [{ order: committed }]);
assert.equal(await prisma.order.count(), 1);
await prisma.$disconnect();
console.log('done');
`;

const tsc = `node ${join(workspaceRoot, 'node_modules/typescript/bin/tsc')} --noEmit --strict --skipLibCheck`;
const target =
  '--target es2024 --module nodenext --allowImportingTsExtensions --types node --customConditions deedwire-source';
// Generating does not use the schema engine, but the command would download it unless the variable names a file.
const generate =
  'PRISMA_SCHEMA_ENGINE_BINARY="$(command -v node)" CHECKPOINT_DISABLE=1 npx prisma generate --schema schema.prisma';

test('fromPrisma compiles with a generated client, and an event is committed with its transaction only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'deedwire-prisma-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { databaseUrl } = await forTest(createShopDatabase());
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await writeFile(join(folder, 'schema.prisma'), schema);
  await writeFile(join(folder, 'assertions.ts'), assertions);
  const nodeTypes = join(workspaceRoot, 'node_modules/@types/node/package.json');
  const packages = [
    ...['prisma', '@prisma/client', '@prisma/adapter-pg'].map((name) => `${name}@${release}`),
    `@types/node@${JSON.parse(readFileSync(nodeTypes, 'utf8')).version}`,
  ];
  const install = `npm install --no-audit --no-fund --prefer-offline --loglevel=error ${packages.join(' ')}`;
  const assert = 'node --conditions=deedwire-source assertions.ts';
  const run = `${install} >&2 && ${generate} >&2 && ${tsc} ${target} assertions.ts >&2 && ${assert}`;
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const { stdout } = await promisify(execFile)('sh', ['-c', run], { cwd: folder, env });
  expect(stdout).toBe('done\n');
});
