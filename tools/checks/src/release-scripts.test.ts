import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { workspaceRoot } from './run.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-scripts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

function write(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const scriptOf = (name: string): string => join(workspaceRoot, 'scripts', name);

const repository = (): string => join(folder, 'repository');

const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...words], {
    cwd: repository(),
    encoding: 'utf8',
  });

/** Makes the patch as the job `version` does, with what `pnpm run version` has changed, and applies it to what was committed. */
function apply(change: () => void) {
  const workflow = readFileSync(join(workspaceRoot, '.github/workflows/release.yml'), 'utf8');
  const [, script = ''] = /run: \|\n +npx .* run version\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
  write('repository/.changeset/quick-fox.md', '---\n---\n');
  write('repository/apps/a/package.json', '{ "version": "1.0.0" }\n');
  write('repository/scripts/release.ts', 'release();\n');
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message=x');
  change();
  execFileSync('sh', ['-c', script], { cwd: repository(), env: { ...process.env, RUNNER_TEMP: folder } });
  const wanted = git('write-tree');
  git('reset', '--quiet', '--hard');
  const applied = spawnSync(scriptOf('apply-versions.sh'), [join(folder, 'versions.patch')], {
    cwd: repository(),
    encoding: 'utf8',
  });
  return { ...applied, wanted, tree: git('write-tree'), before: git('rev-parse', 'HEAD^{tree}') };
}

/** What `pnpm run version` changes. */
function cutVersions(): void {
  rmSync(join(repository(), '.changeset/quick-fox.md'));
  write('repository/apps/a/package.json', '{ "version": "1.0.1" }\n');
  write('repository/apps/a/CHANGELOG.md', '# a\n');
  write('repository/packages/b/releases.json', '{}\n');
  write('repository/docs/reference/b.md', '# b\n');
}

describe('apply-versions.sh', () => {
  test('applies what a release changes', () => {
    const { status, stderr, wanted, tree } = apply(cutVersions);
    expect({ status, stderr, tree }).toEqual({ status: 0, stderr: '', tree: wanted });
  });

  test.each([
    ['a script', () => write('repository/scripts/release.ts', 'steal();\n'), 'scripts/release.ts'],
    ['a workflow', () => write('repository/.github/workflows/x.yml', 'on: push\n'), '.github/workflows/x.yml'],
    ['a link', () => symlinkSync('/etc/passwd', join(repository(), 'package.json')), 'package.json'],
    ['a program', () => chmodSync(join(repository(), 'apps/a/package.json'), 0o755), 'apps/a/package.json'],
    ['an ending after a line feed', () => write('repository/x\n/package.json', '{}\n'), 'x\\n/package.json'],
  ])('refuses a patch that changes %s, and applies nothing of it', (_, change, path) => {
    const { status, stderr, tree, before } = apply(() => {
      cutVersions();
      change();
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The patch changes what no release changes:\n/);
    expect(stderr).toContain(path);
    expect(tree).toBe(before);
  });
});

/** Runs the script with programs that only write down their arguments. */
function sign(archives: readonly string[], released = 'none') {
  for (const [app, version] of [
    ['partner-api', '1.2.3'],
    ['operator-cli', '4.5.6'],
  ])
    write(`apps/${app}/package.json`, JSON.stringify({ name: `@deedwire/${app}`, version }));
  for (const name of archives) write(`images/${name}`, '');
  write(
    'bin/skopeo',
    `#!/bin/sh
echo "skopeo $*" >>"$LOG"
if [ "$1" = inspect ]; then [ "$2" = "$RELEASED" ]; exit; fi
if [ "$2" = --digestfile ]; then printf sha256:%s "$(basename "$4" .tar)" >"$3"; fi
`,
  );
  write('bin/cosign', '#!/bin/sh\necho "cosign $*" >>"$LOG"\n');
  for (const name of ['skopeo', 'cosign']) chmodSync(join(folder, 'bin', name), 0o755);
  write('log', '');
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    LOG: join(folder, 'log'),
    RELEASED: released,
    PREFIX: 'registry.example/deedwire',
    GITHUB_SHA: 'abc',
  };
  const { status, stderr } = spawnSync(scriptOf('sign-images.sh'), ['images'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, stderr, calls: readFileSync(join(folder, 'log'), 'utf8').trim().split('\n') };
}

const isWithoutJq = process.env['CI'] !== 'true' && spawnSync('jq', ['--version']).error !== undefined;

describe.skipIf(isWithoutJq)('sign-images.sh', () => {
  const own = ['partner-api-1.2.3.tar', 'operator-cli-4.5.6.tar'];
  const operator = 'registry.example/deedwire/operator-cli';
  const partner = 'registry.example/deedwire/partner-api';

  test('an image gets the tag of its version after its signature and its bill of materials', () => {
    expect(sign(own, `docker://${operator}:4.5.6`)).toEqual({
      status: 0,
      stderr: '',
      calls: [
        `skopeo inspect docker://${operator}:4.5.6`,
        `skopeo inspect docker://${partner}:1.2.3`,
        `skopeo copy --digestfile images/digest oci-archive:images/partner-api-1.2.3.tar docker://${partner}:commit-abc`,
        `cosign sign --yes ${partner}@sha256:partner-api-1.2.3`,
        `cosign attest --yes --type cyclonedx --predicate images/partner-api-1.2.3.cdx.json ${partner}@sha256:partner-api-1.2.3`,
        `skopeo copy docker://${partner}@sha256:partner-api-1.2.3 docker://${partner}:1.2.3`,
      ],
    });
  });

  test.each([
    'postgres-18.0.0.tar',
    'partner-api-1.2.4.tar',
    'partner-api-1.2.3 .tar',
    '*.tar',
    '../images/deep/x.tar',
  ])('calls nothing if a folder has %s', (name) => {
    const { status, stderr, calls } = sign([...own, name]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^These archives are no images of apps/);
    expect(stderr).toContain(name.replace(/^.*\//, '').replace(/\.tar$/, ''));
    expect(calls).toEqual(['']);
  });
});
