import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { workspaceRoot } from '../../src/run.ts';

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

/** Calls the script with a patch. */
function applyPatch() {
  const applied = spawnSync('node', [scriptOf('apply-versions.ts'), join(folder, 'versions.patch')], {
    cwd: repository(),
    encoding: 'utf8',
  });
  return { ...applied, tree: git('write-tree') };
}

/** Makes the patch as the job `version` does, with what `pnpm run version` has changed, and applies it to what was committed. */
function apply(change: () => void) {
  const workflow = readFileSync(join(workspaceRoot, '.github/workflows/release.yml'), 'utf8');
  const [, script = ''] = /run: \|\n +npx .* run version\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
  write('repository/.changeset/quick-fox.md', '---\n---\n');
  write('repository/package.json', '{\n  "private": true\n}\n');
  write('repository/apps/a/package.json', manifest('1.0.0'));
  write('repository/apps/a/CHANGELOG.md', '# a\n\n## 1.0.0\n');
  write('repository/packages/b/package.json', manifest('1.0.0'));
  write('repository/packages/b/releases.json', '{\n  "1.0.0": {}\n}\n');
  write('repository/packages/contract-check/action/action.yml', action(1));
  write('repository/docs/reference/b.md', '# b\n');
  write('repository/scripts/release.ts', 'release();\n');
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message=x');
  change();
  execFileSync('sh', ['-c', script], { cwd: repository(), env: { ...process.env, RUNNER_TEMP: folder } });
  const wanted = git('write-tree');
  git('reset', '--quiet', '--hard');
  return { ...applyPatch(), wanted, before: git('rev-parse', 'HEAD^{tree}') };
}

const manifest = (version: string, more = ''): string =>
  `{\n  "name": "a",\n  "version": "${version}",\n${more}  "type": "module"\n}\n`;

const action = (major: number, main = 'main.mjs'): string =>
  `inputs:\n  package:\n    default: '@deedwire/contract-check@${major}'\nruns:\n  main: ${main}\n`;

/** What `pnpm run version` changes. */
function cutVersions(): void {
  rmSync(join(repository(), '.changeset/quick-fox.md'));
  write('repository/apps/a/package.json', manifest('1.0.1'));
  write('repository/apps/a/CHANGELOG.md', '# a\n\n## 1.0.1\n\n## 1.0.0\n');
  write('repository/packages/b/package.json', manifest('1.0.1'));
  write('repository/packages/b/CHANGELOG.md', '# b\n\n## 1.0.1\n');
  write('repository/packages/b/releases.json', '{\n  "1.0.0": {},\n  "1.0.1": {}\n}\n');
  write('repository/packages/contract-check/action/action.yml', action(2));
  write('repository/docs/reference/b.md', '# b 1.0.1\n');
}

describe('apply-versions.ts', () => {
  test('applies what a release changes', () => {
    const { status, stderr, wanted, tree } = apply(cutVersions);
    expect({ status, stderr, tree }).toEqual({ status: 0, stderr: '', tree: wanted });
  });

  test('applies the changes of the latest releases', ({ skip }) => {
    execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', workspaceRoot, repository()]);
    const releases = git('log', '-5', '--grep=^release: cut versions$', '--format=%H').split('\n').filter(Boolean);
    skip(releases.length === 0, 'The history of the repository has no release.');
    for (const release of releases) {
      git('reset', '--quiet', '--hard', `${release}^`);
      write('versions.patch', git('diff', '--binary', `${release}^`, release));
      const { status, stderr, tree } = applyPatch();
      const wanted = git('rev-parse', `${release}^{tree}`);
      expect({ status, stderr, tree }).toEqual({ status: 0, stderr: '', tree: wanted });
    }
  });

  const unknown = 'A release does not change it.';
  const binary = 'It is not a plain file of text.';
  const onlyVersion = 'A release may only change its version.';
  const onlyText = 'A release may only change its text.';
  const onlyRecords = 'A release may only get records after its last one, and be added only to a package that exists.';
  const onlyHeading = 'A release may only get text after its heading, and be added only to a package that exists.';
  test.each([
    ['scripts/release.ts', 'steal();\n', unknown],
    ['.github/workflows/x.yml', 'on: push\n', unknown],
    ['x\n/package.json', manifest('1.0.0'), unknown],
    ['package.json', '{\n  "scripts": { "preinstall": "x" }\n}\n', unknown],
    ['apps/a/package.json', manifest('1.0.1', '  "scripts": { "preinstall": "x" },\n'), onlyVersion],
    ['apps/a/package.json', manifest('1.0.1', '  "dependencies": { "b": "https://evil.example" },\n'), onlyVersion],
    ['apps/a/package.json', manifest('1.0.1", "bin": "x'), onlyVersion],
    ['apps/a/package.json', manifest('1.0.1').replace('"name": "a"', '"name": "c"'), onlyVersion],
    ['apps/a/package.json', null, onlyVersion],
    ['apps/evil/package.json', manifest('1.0.0'), onlyVersion],
    ['scripts/package.json', manifest('1.0.0'), onlyVersion],
    ['scripts/node_modules/evil/package.json', manifest('1.0.0'), onlyVersion],
    ['packages/b/package.json/x', 'x\n', unknown],
    ['packages/c/package.json/package.json', manifest('1.0.0'), onlyVersion],
    ['.changeset/evil.md', '---\n---\n', 'A release may only be deleted.'],
    ['packages/contract-check/action/action.yml', action(2, 'evil.mjs'), 'A release may only change the major'],
    ['apps/a/CHANGELOG.md', '# a\n\n## 1.0.1\n', onlyHeading],
    ['apps/evil/CHANGELOG.md', '# evil\n', onlyHeading],
    ['packages/b/CHANGELOG.md', '# b\n\0\n', binary],
    ['packages/b/releases.json', '{\n  "1.0.0": { "changes": [] },\n  "1.0.1": {}\n}\n', onlyRecords],
    ['packages/b/releases.json', '{\n  "1.0.0": {},\n}\n', onlyRecords],
    ['docs/reference/b.md', null, onlyText],
    ['docs/reference/evil.md', '# b\n', onlyText],
    ['docs/reference/a file.md', '# b\n', onlyText],
    ['docs/reference/b.md', '\u009B31m\n', binary],
  ])('refuses %j with the text %j, and applies nothing', (path, text, reason) => {
    const { status, stderr, tree, before } = apply(() => {
      cutVersions();
      rmSync(join(repository(), path.replace(/\/x$/, '')), { force: true });
      if (text !== null) write(`repository/${path}`, text);
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^The patch is not applied, because it changes what no release changes:\n/);
    expect(stderr).toContain(`  ${JSON.stringify(path)}: ${reason}`);
    expect(tree).toBe(before);
  });

  test.each([
    ['a link', 'docs/reference/b.md', (file: string) => (rmSync(file), symlinkSync('/etc/passwd', file))],
    ['a program', 'apps/a/package.json', (file: string) => chmodSync(file, 0o755)],
    ['bytes', 'docs/reference/b.md', (file: string) => writeFileSync(file, Buffer.from([0xff, 0xfe]))],
  ])('refuses %s', (_, path, change) => {
    const { status, stderr, tree, before } = apply(() => {
      cutVersions();
      change(join(repository(), path));
    });
    expect(status).toBe(1);
    expect(stderr).toContain(`  "${path}": ${binary}\n`);
    expect(tree).toBe(before);
  });
});

/** Runs the script with programs that only write down their arguments. */
function sign(archives: readonly string[], released = 'none') {
  for (const [app, version] of [
    ['supplier-api', '1.2.3'],
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
  const own = ['supplier-api-1.2.3.tar', 'operator-cli-4.5.6.tar'];
  const operator = 'registry.example/deedwire/operator-cli';
  const supplier = 'registry.example/deedwire/supplier-api';

  test('an image gets the tag of its version after its signature and its bill of materials', () => {
    expect(sign(own, `docker://${operator}:4.5.6`)).toEqual({
      status: 0,
      stderr: '',
      calls: [
        `skopeo inspect docker://${operator}:4.5.6`,
        `skopeo inspect docker://${supplier}:1.2.3`,
        `skopeo copy --digestfile images/digest oci-archive:images/supplier-api-1.2.3.tar docker://${supplier}:commit-abc`,
        `cosign sign --yes ${supplier}@sha256:supplier-api-1.2.3`,
        `cosign attest --yes --type cyclonedx --predicate images/supplier-api-1.2.3.cdx.json ${supplier}@sha256:supplier-api-1.2.3`,
        `skopeo copy docker://${supplier}@sha256:supplier-api-1.2.3 docker://${supplier}:1.2.3`,
      ],
    });
  });

  test.each([
    'postgres-18.0.0.tar',
    'supplier-api-1.2.4.tar',
    'supplier-api-1.2.3 .tar',
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
