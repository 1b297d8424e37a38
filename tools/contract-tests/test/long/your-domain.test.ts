import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '@deedwire/testing';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { succeed } from '../support/command.ts';
import { copyWorkspace, type WorkspaceCopy } from '../support/workspace-copy.ts';

// Follows docs/your-domain.md, as printed, in a copy of this workspace. The tests build on each other.

// Guard against hanging only: a test runs every check.
vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_200_000 });

let workspace: WorkspaceCopy;
beforeAll(async () => {
  workspace = await copyWorkspace({});
});
afterAll(() => workspace.remove());

/** The commands in a section of the page of the copy, in which they can have changed. */
function blocksOf(heading: string): string[] {
  const page = readFileSync(join(workspace.folder, 'docs/your-domain.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? missing();
  return Array.from(section.matchAll(/^```(?:ba)?sh\n([^]*?)^```$/gm), ([, block = '']) => block);
}

// pnpm turns it off for what a script starts.
const env = { pnpm_config_verify_deps_before_run: 'install' };

function run(block: string | undefined): Promise<string> {
  return succeed('bash', ['-euo', 'pipefail', '-c', block ?? missing()], { cwd: workspace.folder, env });
}

test('the commands add an interface that passes every check', async () => {
  for (const block of blocksOf('An interface')) await run(block);
  expect(await workspace.git('status', '--porcelain')).toBe('');
});

test('its first event arrives', async () => {
  const [dev, change] = blocksOf('Its first event');
  const names = ['LENDER_API', 'PARTNER_API', 'VENDOR_API'];
  const ports = [...names.flatMap((name) => [`${name}_PORT`, `${name}_ADMIN_PORT`]), 'WEBHOOK_WORKER_PORT'];
  const child = spawn('bash', ['-c', dev ?? missing()], {
    cwd: workspace.folder,
    detached: true,
    env: { ...process.env, ...env, ...Object.fromEntries([...ports, 'RECEIVER_PORT'].map((name) => [name, '0'])) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    process.kill(-(child.pid ?? missing()), 'SIGINT');
    await ended;
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await vi.waitFor(() => expect(output).toContain('Deedwire is running'), { timeout: 240_000, interval: 200 });
  expect(await run(change)).toContain('"name":"Harbour Supplies"');
  await vi.waitFor(() => expect(output).toMatch(/^receiver +vendor\.updated /m), { timeout: 60_000, interval: 200 });
});

test('the names can be changed in one place, with everything that contains them', async () => {
  for (const block of blocksOf('Names')) await run(block);
  expect(readFileSync(join(workspace.folder, 'docs/your-domain.md'), 'utf8')).toContain('X-Acme-Client-Id: ');
  expect(await workspace.git('grep', '-lE', '[Xx]-[Ss]ervice|X-SERVICE|Deedwire-Webhooks|gid://service/')).toMatch(
    /^(?:.+CHANGELOG\.md\n|packages\/store\/migrations\/0001-.+\n|packages\/webhook-signing\/test-vectors\.json\n)+$/,
  );
  const files = ['vendor-api', 'partner-api.test', 'lender-api', 'foreign-deliveries'];
  await workspace.pnpm('exec', 'vitest', 'run', '--project', 'unit');
  await workspace.pnpm('exec', 'vitest', 'run', '--project', 'integration', ...files);
});

test('the samples are no longer deployed, and every check passes', async () => {
  for (const block of blocksOf('Without the samples')) await run(block);
  const deployed = ['lender', 'partner', 'vendor'].filter((name) =>
    existsSync(join(workspace.folder, `deploy/kubernetes/apps/${name}-api.yaml`)),
  );
  expect(deployed).toEqual(['vendor']);
  const files = [
    'deploy/Containerfile',
    'deploy/compose.yaml',
    'deploy/compose/Caddyfile',
    'deploy/prometheus/rules.yml',
  ];
  for (const file of files)
    expect(readFileSync(join(workspace.folder, file), 'utf8')).not.toMatch(/\b(?:lender|partner)-api\b/);
});
