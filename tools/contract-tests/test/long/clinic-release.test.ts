import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@deedwire/embedded-postgres';
import { compileBlocks } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test, vi } from 'vitest';
import { extractReleased } from '../support/checked-out-release.ts';
import { succeed } from '../support/command.ts';
import { linesFor, quietNpm } from '../support/install-lines.ts';
import { npmInstall, readJson } from '../support/installed-packages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// The source of the clinic of the previous release, which its owner has not changed, with the packages of this build.

// It packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const server = await forFile(startPostgres());
const { path: released } = await forFile(temporaryFolder('clinic-released'));
const { path: folder } = await forFile(temporaryFolder('clinic-upgraded'));
await extractReleased('packages/service/CHANGELOG.md', 'examples/clinic', released);
await cp(join(released, 'examples/clinic/deedwire'), join(folder, 'deedwire'), { recursive: true });
await writeFile(
  join(folder, 'package.json'),
  '{ "name": "clinic", "version": "1.0.0", "private": true, "type": "module" }',
);
await writeFile(join(folder, '.gitignore'), 'node_modules\n');
const codegen = '@graphql-codegen/typescript';
const { version } = readJson(join(workspaceRoot, 'packages/service/node_modules', codegen, 'package.json'));
await npmInstall(folder, [`${codegen}@${version}`]);
for (const name of ['service', 'contract-check']) {
  const [line = 'false'] = (await linesFor('npm')).filter((each) => new RegExp(`/deedwire-${name}-[^/]*'$`).test(each));
  await succeed('sh', ['-ec', line], { cwd: folder, env: quietNpm });
}
const git = (...args: readonly string[]): Promise<string> =>
  succeed('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: folder });
await git('init', '--quiet', '--initial-branch=main');
await git('add', '--all');
await git('commit', '--quiet', '--message', 'release');

/** Without the packages of the workspace, which the command that runs the tests names. */
const env = { NODE_PATH: '', DATABASE_URL: server.url };
const deedwire = (...args: readonly string[]): Promise<string> =>
  succeed('npx', ['--no-install', 'deedwire', ...args], { cwd: folder, env });
const compile = (): Promise<string> => compileBlocks(folder, 'deedwire/**/*.ts', { customConditions: [] });

/** A patient books, lists and receives. */
const program = `
import { startService } from '@deedwire/service/testing';
import { service } from './deedwire/service.ts';

const { accounts, receiver, stop } = await startService(service, { app: import.meta.url });
await receiver.subscribe(['appointment.booked']);
const ask = async (query) => {
  const { url, headers } = accounts.patient;
  const body = JSON.stringify({ query });
  const response = await fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });
  return response.json();
};
const startsAt = new Date(Date.now() + 86400000).toISOString();
const booked = await ask(\`mutation Book { bookAppointment(input: { startsAt: "\${startsAt}", reason: "Feber" }) { appointment { id } userErrors { code } } }\`);
const listed = await ask('query List { appointments { id reason } }');
const [event] = await receiver.waitFor(1);
console.log(JSON.stringify({ booked, listed, data: event.data }));
await stop();
`;

test('compiles, serves its interface and delivers its event without a change', async () => {
  expect(await compile()).toBe('');
  await writeFile(join(folder, 'program.ts'), program);
  const { booked, listed, data } = JSON.parse(await succeed(process.execPath, ['program.ts'], { cwd: folder, env }));
  const { id } = booked.data.bookAppointment.appointment;
  expect({ booked, listed, data }).toMatchObject({
    booked: { data: { bookAppointment: { appointment: { id }, userErrors: [] } } },
    listed: { data: { appointments: [{ id, reason: 'Feber' }] } },
    data: { appointmentId: id, startsAt: expect.any(String) },
  });
});

test('takes what this build generates without breaking what it had released', async () => {
  await deedwire('generate');
  expect(await compile()).toBe('');
  expect(await deedwire('check', '--against', 'HEAD')).toContain('Passed');
});
