import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres } from '@deedwire/embedded-postgres';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// An application whose interface lists its rows page by page, and reads the account of the caller.

const server = await forFile(startPostgres());
const { path: folder } = await forFile(temporaryFolder('application-lists'));
const service = join(workspaceRoot, 'packages/service');

const run = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, ['--conditions=deedwire-source', ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], DATABASE_URL: server.url },
  });

async function edit(path: string, from: RegExp | string, to: string): Promise<void> {
  const file = join(folder, 'deedwire/patient', path);
  const text = await readFile(file, 'utf8');
  if (text.replace(from, () => to) === text) throw new Error(`${path} has no ${String(from)}.`);
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}

const sdl = `appointments(first: Int = 20, after: String, reason: String): AppointmentConnection!
  """
  Your id in our records.
  """
  patientId: String
  """
  Null if you have no such appointment.
  """
  appointment(id: ID!): Appointment`;
const types = `
type AppointmentConnection {
  edges: [AppointmentEdge!]!
  nodes: [Appointment!]!
  pageInfo: PageInfo!
}

type AppointmentEdge {
  cursor: String!
  node: Appointment!
}
`;
const code = `connection('appointments', {
    type: Appointment,
    args: (t) => ({ reason: t.string() }),
    rows: ({ after, limit }, { caller, sql }, { reason = null }) =>
      sql<{ id: string; startsAt: Date; reason: string }>\`
        select id, starts_at as "startsAt", reason
        from appointment
        where account_id = \${caller.accountId} and (\${reason}::text is null or reason = \${reason}) and (\${after}::bigint is null or id > \${after})
        order by id
        limit \${limit}\`,
    node: (row, { gid }) => ({ ...row, id: gid('Appointment', row.id) }),
  });
  query('patientId', (t) =>
    t.string({ nullable: true, resolve: async (_, _args, { account }) => (await account()).externalId }),
  );
  query('appointment', (t) =>
    t.field({
      type: Appointment,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      async resolve(_, { id }, { caller, sql, gid, idOf }) {
        const [row] = await sql<{ id: string; startsAt: Date; reason: string }>\`
          select id, starts_at as "startsAt", reason
          from appointment
          where account_id = \${caller.accountId} and id = \${idOf('Appointment', String(id))}\`;
        return row && { ...row, id: gid('Appointment', row.id) };
      },
    }),
  );`;

/** Prints what the API answers to each operation. */
const program = `
import { startService } from '@deedwire/service/testing';
import { service } from './deedwire/service.ts';

const { accounts, stop } = await startService(service, { app: import.meta.url });
const ask = async (query) => {
  const { url, headers } = accounts.patient;
  const body = JSON.stringify({ query });
  const response = await fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });
  return response.json();
};
const answers = [];
for (const [index, reason] of ['Feber', 'Hoste', 'Feber'].entries())
  await ask(\`mutation Book { bookAppointment(input: { startsAt: "\${new Date(Date.now() + (index + 1) * 86400000).toISOString()}", reason: "\${reason}" }) { userErrors { message } } }\`);
const first = await ask('query First { patientId appointments(first: 2) { nodes { reason } pageInfo { endCursor hasNextPage hasPreviousPage } } }');
const { endCursor } = first.data.appointments.pageInfo;
answers.push(first);
answers.push(await ask(\`query Next { appointments(first: 2, after: "\${endCursor}") { edges { cursor node { id reason } } pageInfo { hasNextPage hasPreviousPage } } }\`));
answers.push(await ask('query Some { appointments(reason: "Feber") { nodes { reason } } }'));
const { data: { appointments: { nodes: [{ id }] } } } = await ask('query Id { appointments(first: 1) { nodes { id } } }');
for (const each of [id, id.replace('Appointment', 'Patient'), id + '0'.repeat(20), 'gid://clinic/Appointment/abc', "'"])
  answers.push(await ask(\`query Record { appointment(id: "\${each}") { reason } }\`));
answers.push(await ask('query Bad { appointments(after: "x") { nodes { reason } } }'));
answers.push(await ask('query Many { appointments(first: 101) { nodes { reason } } }'));
answers.push(accounts.patient.externalId);
console.log(JSON.stringify(answers));
await stop();
`;

const refused = (message: string) => ({
  errors: [expect.objectContaining({ message: expect.stringContaining(message) })],
});

test('lists rows with cursors and a filter, finds one by its id, reads the id of the account, and refuses what is no page', async () => {
  await cp(join(workspaceRoot, 'examples/clinic/deedwire'), join(folder, 'deedwire'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "version": "1.0.0" }');
  await mkdir(join(folder, 'node_modules/@deedwire'), { recursive: true });
  await symlink(service, join(folder, 'node_modules/@deedwire/service'));
  await edit('own/2026-11-01.graphql', 'appointments: [Appointment!]!', sdl);
  await edit('own/2026-11-01.graphql', /$/, types);
  await edit('own/2026-11-01.manifest.json', '"Query.appointments": 100, ', '');
  await edit(
    'own/2026-11-01.manifest.json',
    '"Query.appointments": ["READ"]',
    '"Query.appointments": ["READ"], "Query.patientId": ["READ"], "Query.appointment": ["READ"]',
  );
  await edit('2026-11-01.ts', '{ builder, query, change }', '{ builder, query, connection, change }');
  await edit('2026-11-01.ts', /query\('appointments'[^]*?\n {2}\);/, code);
  await run(join(service, 'src/bin.ts'), 'generate');
  await run(join(service, 'src/bin.ts'), 'check');
  await writeFile(join(folder, 'program.ts'), program);
  const { stdout } = await run('program.ts');
  const answers: unknown[] = JSON.parse(stdout);
  const patientId = answers.pop();
  expect(answers).toMatchObject([
    {
      data: {
        patientId,
        appointments: {
          nodes: [{ reason: 'Feber' }, { reason: 'Hoste' }],
          pageInfo: { endCursor: expect.any(String), hasNextPage: true, hasPreviousPage: false },
        },
      },
    },
    {
      data: {
        appointments: {
          edges: [
            {
              cursor: expect.any(String),
              node: { id: expect.stringMatching(/^gid:\/\/clinic\/Appointment\/\d+$/), reason: 'Feber' },
            },
          ],
          pageInfo: { hasNextPage: false, hasPreviousPage: true },
        },
      },
    },
    { data: { appointments: { nodes: [{ reason: 'Feber' }, { reason: 'Feber' }] } } },
    { data: { appointment: { reason: 'Feber' } } },
    // Of another type, beyond a bigint, no number, and no identifier: as one that does not exist.
    ...Array.from({ length: 4 }, () => ({ data: { appointment: null } })),
    refused('`after` is not a cursor of `appointments`.'),
    refused('`first` must be 1 to 100'),
  ]);
});
