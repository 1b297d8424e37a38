/** The code blocks in the pages of the receiver kit, and what a newcomer does with each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readReceiverKitPages } from '@deedwire/testing';
import { prismaRow } from './newcomer-prisma.ts';
import { type Row, storeServer } from './newcomer-row.ts';
import { workspaceRoot } from './workspace-copy.ts';

const pages = readReceiverKitPages();
/** Of every language. */
export const allBlocks = [...pages.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** @throws unless exactly one block contains the text */
export function blockWith(text: string): string {
  const [found, ...others] = allBlocks.filter((code) => code.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`Not one block contains ${text}`);
  return found;
}

const inReferralTable = 'select from referral where id = $1';

/** What belongs to the row of the table of frameworks with this name. */
const additions: Record<string, Partial<Row>> = {
  Express: {
    otherFiles: {
      'handlers.ts': blockWith('webhook-receiver/testing'),
      'test.ts': `import { names, response } from './handlers.ts'; console.log(response.status, names);`,
    },
    afterwards: 'node test.ts',
  },
  'Node with PostgreSQL': {
    effects: inReferralTable,
    otherFiles: { 'forget.mjs': blockWith('.forget({') },
    afterwards: 'node forget.mjs',
    isRepeated: true,
  },
};

/** The example of each framework. PostgreSQL has a block: its packages are in the manifest of the kit. */
export const examples: Record<string, string> = {
  Node: 'receiver-node',
  Express: 'receiver-express',
  Fastify: 'receiver-fastify',
  Hono: 'receiver-hono',
  'Next.js': 'receiver-next',
  'AWS Lambda': 'receiver-lambda',
  'Cloudflare Workers': 'receiver-workers',
};

/** What the newcomer copies: an example, or the block for PostgreSQL. */
function programOf(framework: string, file: string): string {
  const example = examples[framework];
  if (example === undefined) return blockWith("process.once('SIGTERM'");
  return readFileSync(join(workspaceRoot, 'examples', example, file), 'utf8');
}

/** The rows of the table of frameworks. */
export const rows: Row[] = [...pages.matchAll(/^\| ([\w. ]+?) +\| (?:`(.*?)`)? +\| `(.*?)` +\| (.*?) +\|$/gm)].map(
  ([, framework = '', packages = '', file = '', start = '']) => ({
    framework,
    packages: packages.split(' ').filter((name) => name !== ''),
    block: programOf(framework, file),
    file,
    // The cell of a function says to deploy it, and names the file that serves it here.
    start: /^`(.*)`$/.exec(start)?.[1] ?? 'node local.mjs',
    ...additions[framework],
  }),
);

const serveReceiver = `
import { createServer } from 'node:http';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { receiver } from './receiver.mjs';

createServer(nodeHandler(receiver)).listen(Number(process.env.PORT));
`;

// With the table of version 1, in which a delivery waits.
const serveInbox = `
import { pool } from './receiver.mjs';

await pool.query('create table conversion (matter_id text)');
await pool.query(\`create table webhook_inbox as select 'waiting' as id, 'waiting' as state, '{}' as unsigned,
  null::timestamptz as ended_at, now() as received_at, $1::text as body\`, [process.env.WAITING]);
${serveReceiver}`;

export const moveInbox = blockWith('move-inbox');

/** The blocks with an inbox, which export a receiver. */
export const inboxRows: Row[] = ['graphile-worker', 'pg-boss'].map((library) => ({
  framework: library,
  packages: [library, 'pg'],
  block: blockWith(`from '@deedwire/webhook-receiver/${library}'`),
  file: 'receiver.mjs',
  start: 'node serve.mjs',
  otherFiles: { 'serve.mjs': serveInbox },
  isInbox: true,
  effects: 'select from conversion where matter_id = $1',
  // The comment names the other library.
  afterwards: moveInbox.replace('graphile-worker', library),
}));

const keptBlock = blockWith('postgresKeptEvents');

/** The block that keeps events without a handler. A process with a handler starts later. */
export const keptRow: Row = {
  framework: 'kept events',
  packages: ['pg'],
  block: keptBlock,
  file: 'receiver.mjs',
  start: 'node serve.mjs',
  otherFiles: {
    'serve.mjs': serveReceiver,
    'later-receiver.mjs': keptBlock.replace(
      'on: {}',
      `on: { 'referral.created': { '2026-11-01': ({ data }) => console.log(data.referralId) } }`,
    ),
    'later.mjs': `
      import { receiver, stop } from './later-receiver.mjs';
      const results = [await receiver.processKept(), await receiver.processKept()];
      stop();
      await receiver.close();
      console.log(JSON.stringify(results));
      process.exit();
    `,
  },
  effects: `select from webhook_kept_event where body::json -> 'data' ->> 'referralId' = $1`,
  afterwards: 'node later.mjs',
};

/** The blocks that export a store. */
const storeRows: Row[] = [
  {
    framework: 'Kysely',
    packages: ['kysely', 'pg'],
    block: blockWith('kyselyStore'),
    file: 'store.ts',
    start: 'node serve.ts',
    otherFiles: {
      'serve.ts': storeServer({
        imports: [
          `import { Kysely, PostgresDialect } from 'kysely';`,
          `import { Pool } from 'pg';`,
          `import { kyselyStore } from './store.ts';`,
        ],
        open: `
          const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
          const database = new Kysely<{ referral: { id: string } }>({ dialect: new PostgresDialect({ pool }) });
          await database.schema.createTable('referral').addColumn('id', 'text').execute();
          const store = kyselyStore(database);
          await store.createTable();
        `,
        handler: `({ data }, { transaction }) =>
          void (await transaction.insertInto('referral').values({ id: data.referralId }).execute())`,
      }),
    },
    effects: inReferralTable,
  },
  {
    framework: 'Drizzle',
    packages: ['drizzle-orm', 'pg'],
    block: blockWith('drizzleStore'),
    file: 'store.ts',
    start: 'node serve.ts',
    otherFiles: {
      'serve.ts': storeServer({
        imports: [
          `import { drizzle } from 'drizzle-orm/node-postgres';`,
          `import { pgTable, text } from 'drizzle-orm/pg-core';`,
          `import { drizzleStore } from './store.ts';`,
        ],
        open: `
          const database = drizzle(process.env['DATABASE_URL'] ?? '');
          const referral = pgTable('referral', { id: text() });
          await database.execute('create table referral (id text)');
          const store = drizzleStore(database);
          await store.createTable();
        `,
        handler: `({ data }, { transaction }) =>
          void (await transaction.insert(referral).values({ id: data.referralId }))`,
      }),
    },
    effects: inReferralTable,
  },
  { ...prismaRow, block: blockWith('prismaStore'), effects: inReferralTable },
];

/** The rows and stores that `test/full` pastes. */
const fullNames = new Set(['Express', 'Node with PostgreSQL']);
const isFull = ({ framework }: Row): boolean => fullNames.has(framework);
export const fullRows = [...rows, ...storeRows].filter(isFull);
/** Those that `test/long` pastes: the others. */
export const longRows = [...rows, ...storeRows].filter((row) => !isFull(row));

/** The block for Redis. The newcomer starts a server of their own. */
export const redisRow: Row = {
  framework: 'ioredis',
  packages: ['ioredis'],
  block: blockWith('redisStore'),
  file: 'store.ts',
  start: 'redis-server --bind 127.0.0.1 --port "$REDIS_PORT" --save "" & exec node serve.ts',
  otherFiles: {
    'serve.ts': storeServer({
      imports: [`import { store } from './store.ts';`],
      open: '',
      handler: '({ type, data }) => console.log(type, data.referralId)',
    }),
  },
};

/** How a newcomer installs the kit: `startNewcomer` installs what is packed instead. */
export const installation = 'npm install @deedwire/webhook-receiver\n';

/** Every block that a test runs, with the test of `pulled-deliveries.test.ts`, because no delivery fails before three days have passed. */
export const runBlocks: ReadonlySet<string> = new Set([
  ...[...rows, ...inboxRows, keptRow, ...storeRows, redisRow].flatMap(({ block, otherFiles = {} }) => [
    block,
    ...Object.values(otherFiles),
  ]),
  installation,
  moveInbox,
  blockWith('processFailed'),
  // Those that pull are run by reconcile.test.ts.
  blockWith('reconcileRegularly'),
  blockWith('LISTENER_ID'),
  // By runtimes.test.ts and readme.test.ts of the kit.
  blockWith('HYPERDRIVE'),
  blockWith('receivedAt'),
]);
