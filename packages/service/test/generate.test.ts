import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compileIn, createApplication, deedwireIn, root } from './application.ts';

const clinic = join(root, '../../examples/clinic');
const module = 'deedwire/patient/2026-11-01.ts';
const ownSdl = 'deedwire/patient/own/2026-11-01.graphql';
const manifest = 'deedwire/patient/own/2026-11-01.manifest.json';

/** A copy of the example. */
let folder: string;
beforeEach(async () => {
  folder = await createApplication({ type: 'module' });
  await cp(join(clinic, 'deedwire'), join(folder, 'deedwire'), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

const passed = { code: 0, output: expect.stringMatching(/^ok .*\n$/) };

const deedwire = (command: string, cwd = folder) => deedwireIn(cwd, command);
const compile = () => compileIn(folder);

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const before = await readFile(join(folder, path), 'utf8');
  const after = change(before);
  if (after === before) throw new Error(`The edit of ${path} changes nothing.`);
  await writeFile(join(folder, path), after);
}

test('the example is as `generate` writes it, and its code is that of its SDL', async () => {
  const upToDate = { code: 0, output: 'ok     deedwire/service.ts, with 6 generated files\n' };
  expect(await deedwire('check', clinic)).toEqual(upToDate);
  expect(await deedwire('generate', clinic)).toEqual(upToDate);
});

test('a field that the SDL renames does not compile in the module, and is named by `check`', async () => {
  await edit(ownSdl, (sdl) => sdl.replaceAll('startsAt', 'beginsAt'));
  expect(await deedwire('check')).toEqual({
    code: 1,
    output: ['patient/2026-11-01.graphql', 'patient/generated/2026-11-01.ts']
      .map((path) => `deedwire/${path} is out of date: run \`deedwire generate\`.\n`)
      .join(''),
  });
  const { code, output } = await deedwire('generate');
  expect({ code, output }).toEqual({
    code: 0,
    output: 'wrote  deedwire/patient/2026-11-01.graphql\nwrote  deedwire/patient/generated/2026-11-01.ts\n',
  });

  const errors = await compile();
  const places = [...errors.matchAll(/^(\S+)\(\d+,\d+\): error TS\d+: (.*)$/gm)];
  expect(places.filter(([, file = '']) => !file.endsWith(`/${module}`))).toEqual([]);
  // Exposed, selected and returned by the query, and taken, exposed and returned by the mutation.
  expect(places.length).toBeGreaterThanOrEqual(4);
  expect(errors).toContain("'beginsAt'");

  const checked = await deedwire('check');
  expect(checked).toEqual({ code: 1, output: expect.stringContaining('"beginsAt: DateTime!"') });
  await edit(module, (text) =>
    text
      .replaceAll('startsAt', 'beginsAt')
      .replace('{ ...appointment, beginsAt: beginsAt.', '{ id: appointment.id, reason, startsAt: beginsAt.'),
  );
  expect(await deedwire('check')).toEqual(passed);
});

test('a second date of the interface and of an event are two edited files, and what `generate` writes', async () => {
  await edit('deedwire/service.ts', (text) =>
    text
      .replace(
        "versions: { '2026-11-01': { serve: () => import('./patient/2026-11-01.ts') } }",
        `versions: {
        '2026-11-01': { serve: () => import('./patient/2026-11-01.ts') },
        '2027-03-01': { edition: '2026-11-01', serve: () => import('./patient/2027-03-01.ts') },
      }`,
      )
      .replace(
        'appointment: { id, startsAt, reason } }),\n    },',
        `$&
    '2027-03-01': {
      status: 'preview',
      data: z.object({ startsAt: z.iso.datetime() }),
      render: ({ appointment: { startsAt } }) => ({ startsAt }),
    },`,
      ),
  );
  const [laterSdl, laterModule] = [ownSdl, module].map((path) => path.replace('2026-11-01', '2027-03-01'));
  const begun = [laterSdl, manifest.replace('2026-11-01', '2027-03-01'), laterModule];
  const composed = ['patient/2027-03-01.graphql', 'patient/generated/2027-03-01.ts'].map((path) => `deedwire/${path}`);
  const others = ['events/appointment.booked/2027-03-01.json', 'patient/versions.json', 'events/versions.json'];
  const { code, output } = await deedwire('generate');
  expect({ code, files: output.trim().split('\n').toSorted() }).toEqual({
    code: 0,
    files: [...begun, ...composed, ...others.map((path) => `deedwire/${path}`)]
      .map((path) => `wrote  ${path}`)
      .toSorted(),
  });
  // It begins as the version before it.
  expect(await deedwire('check')).toEqual(passed);

  await edit(laterSdl ?? '', (sdl) => sdl.replaceAll('reason', 'note'));
  await edit(laterModule ?? '', (text) =>
    text
      .replaceAll('reason', 'note')
      .replace('{ ...appointment, startsAt', '{ id: appointment.id, reason: note, startsAt'),
  );
  expect(await deedwire('generate')).toEqual({ code: 0, output: composed.map((path) => `wrote  ${path}\n`).join('') });
  expect(await deedwire('check')).toEqual(passed);
  expect(await compile()).toBe('');
  await edit('deedwire/service.ts', (text) => text.replace("edition: '2026-11-01', ", ''));
  expect(await deedwire('generate')).toEqual({
    code: 1,
    output: expect.stringContaining('No edition has the date 2027-03-01. There are 2026-11-01.'),
  });
});

test('a payload on which customers rely does not change, and that of a preview does', async () => {
  const promised = 'deedwire/events/appointment.booked/2026-11-01.json';
  const before = await readFile(join(folder, promised), 'utf8');
  await edit('deedwire/service.ts', (text) =>
    text
      .replaceAll('appointmentId', 'appointmentRef')
      .replace('reason: z.string() }) }),\n      render', 'reason: z.string(), room: z.string() }) }),\n      render'),
  );
  const problem = `The payload of appointment.booked at 2026-11-01 is not what ${promised} promises. Add a version instead.`;
  const preview = 'deedwire/events/appointment.booked/2027-02-01.json';
  const { code, output } = await deedwire('check');
  expect({ code, lines: output.split('\n') }).toEqual({
    code: 1,
    lines: [expect.stringContaining(problem), `${preview} is out of date: run \`deedwire generate\`.`, ''],
  });
  expect(await deedwire('generate')).toEqual({ code: 1, output: expect.stringContaining(problem) });
  expect(await readFile(join(folder, promised), 'utf8')).toBe(before);

  await edit('deedwire/service.ts', (text) => text.replaceAll('appointmentRef', 'appointmentId'));
  expect(await deedwire('generate')).toEqual({ code: 0, output: `wrote  ${preview}\n` });
  expect(await deedwire('check')).toEqual(passed);
});

test('`generate` names a type that every interface has, and an SDL that is missing', async () => {
  await edit(ownSdl, (sdl) => `${sdl}\ntype WebhookDelivery {\n  id: ID!\n}\n`);
  expect(await deedwire('generate')).toEqual({
    code: 1,
    output: expect.stringContaining(
      'patient/own/2026-11-01.graphql: WebhookDelivery is in the common half, which every interface has.',
    ),
  });
  await rm(join(folder, ownSdl));
  expect(await deedwire('generate')).toEqual({ code: 1, output: expect.stringContaining(`${ownSdl} is missing`) });
});

test.each([
  ['a type that nothing defines', '[Appointment!]!', '[Appointmnt!]!', 'Unknown type "Appointmnt". Did you mean'],
  ['a field twice', 'reason: String!', 'reason: String!\n  reason: String', 'Field "Appointment.reason" can only be'],
  ['a name of introspection', 'reason: String!', '__reason: String!', 'Name "__reason" must not begin with "__"'],
  ['malformed SDL', 'reason: String!', 'reason String!', 'Syntax Error: Expected ":"'],
])('`generate` names the file of an SDL with %s', async (_, from, to, problem) => {
  await edit(ownSdl, (sdl) => sdl.replace(from, to));
  const { code, output } = await deedwire('generate');
  expect({ code, lines: output.split('\n') }).toEqual({
    code: 1,
    lines: expect.arrayContaining([expect.stringContaining(problem)]),
  });
  expect(output).toContain(ownSdl);
});

test('`check` names an action of the audit log that the service lacks, and a field without an ability', async () => {
  await edit('deedwire/service.ts', (text) => text.replace("clientActions: ['appointment.book']", 'clientActions: []'));
  await edit(manifest, (text) => text.replace('"Query.appointments": ["READ"], ', ''));
  const { code, output } = await deedwire('check');
  expect(code).toBe(1);
  expect(output).toContain('records the action appointment.book, which `clientActions` of the service lacks');
  expect(output).toContain('Query.appointments has no ability');
});
