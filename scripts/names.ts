/** `pnpm names`: changes the names of `packages/firm/src/names.ts` in every file that contains them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { toBase62 } from '../packages/auth/src/base62.ts';
import { nameForms } from '../packages/core/src/name-forms.ts';
import { names } from '../packages/firm/src/names.ts';
import { endWithReader } from './end-with-reader.ts';

const help = `Usage: pnpm names <gid namespace> <key prefix> <header prefix> <user agent>

Changes the names by which clients and receivers know the service, in every file of this repository, and raises the major version of
the published packages that contain them. For example:
  pnpm names acme ak X-Acme Acme-Webhooks
Now they are: ${Object.values(names).join(' ')}
Do this before the first release. Clients and receivers store and send these names, so they must not change afterwards.
Exit codes: 0 success, 1 nothing was written, 2 invalid usage.
`;

/** In the order of the arguments. */
const forms = Object.values(nameForms);

/** What a namespace follows in code and pages. The name of a signature scheme must stay. */
const beforeNamespace = String.raw`[Nn]amespace|GID_NAMESPACE|default|installation|sample\(|Renderer\(|Gid\(|ReceiverLog\(|(?:firm|store|operator|\{ events \}|\$1|'\{\}'), `;

endWithReader();
const values = process.argv.slice(2);
const wrong = forms.findIndex((form, index) => !form.test(values[index] ?? ''));
if (['--help', '-h', 'help'].includes(values[0] ?? '')) {
  process.stdout.write(help);
} else if (values.length !== 4 || wrong !== -1) {
  const form = forms[wrong];
  process.stderr.write(form ? `"${values[wrong] ?? ''}" does not match ${form.source}.\n\n${help}` : help);
  process.exitCode = 2;
} else if (git('status', '--porcelain') !== '') {
  process.stderr.write(
    'The working tree has changes. Commit or undo them, so that you see what is new. Nothing was written.\n',
  );
  process.exitCode = 1;
} else {
  const [gidNamespace = '', apiKeyPrefix = '', headerPrefix = '', userAgent = ''] = values;
  const files = rename({ gidNamespace, apiKeyPrefix, headerPrefix, userAgent });
  process.stdout.write(`Changed ${files} files.

Next:
  1. pnpm generate && pnpm format
  2. Commit the changes to the branch that you release from, in one commit: the oldest one with the raised versions is what
     pnpm check compares contracts with. It fails before.
  3. In secret scanners and gateways, use the new prefixes.
`);
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** Returns the number of changed files. */
function rename(next: Record<keyof typeof names, string>): number {
  const { gidNamespace, apiKeyPrefix, headerPrefix, userAgent } = names;
  const steps = [
    [headerPrefix, next.headerPrefix],
    [headerPrefix.toLowerCase(), next.headerPrefix.toLowerCase()],
    [headerPrefix.toUpperCase(), next.headerPrefix.toUpperCase()],
    [userAgent, next.userAgent],
    [`(?<=apiKeyPrefix: ')${apiKeyPrefix}(?=')`, next.apiKeyPrefix],
    [String.raw`\b${apiKeyPrefix}_(?=[a-z<({$[])`, `${next.apiKeyPrefix}_`],
  ].map(([pattern = '', name = '']) => [new RegExp(pattern, 'g'), name] as const);
  const gids = [
    // As it is, and in a regular expression.
    String.raw`(?<=gid:\\?/\\?/)${gidNamespace}(?=\\?/)`,
    `(?<=(?:${beforeNamespace})[:= ]*['\`])${gidNamespace}(?=['\`])`,
    String.raw`(?<=GID_NAMESPACE is )${gidNamespace}\b`,
  ].map((pattern) => [new RegExp(pattern, 'g'), next.gidNamespace] as const);
  const key = new RegExp(String.raw`\b${next.apiKeyPrefix}_[a-z-]+_\w{12}_\w{43}_\w{6}\b`, 'g');
  const changed: string[] = [];
  for (const path of git('ls-files', '-z').split('\0')) {
    // Databases have the checksums of migrations, which contain the names only in comments.
    if (path === '' || /CHANGELOG\.md$|pnpm-lock\.yaml$|\/migrations\/.*\.sql$/.test(path)) continue;
    const before = readFileSync(path, 'utf8');
    if (before.includes('\0')) continue;
    // The vectors contain signatures of their identifiers.
    const due = path.endsWith('test-vectors.json') ? steps : [...steps, ...gids];
    const renamed = due.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), before);
    const after = renamed.replaceAll(key, withChecksum);
    if (after === before) continue;
    writeFileSync(path, after);
    changed.push(path);
  }
  const published = changed
    .filter((path) => !/\.test\.ts$|\.snap$/.test(path))
    .map((path) => path.split('/', 2).join('/'));
  for (const folder of new Set(published)) raiseMajor(folder);
  return changed.length;
}

/** What a released version contains must not change, so the release with the new names is another one. */
function raiseMajor(folder: string): void {
  const manifest = join(folder, 'package.json');
  if (!folder.startsWith('packages/') || !existsSync(manifest)) return;
  const { private: isPrivate, version } = JSON.parse(readFileSync(manifest, 'utf8'));
  if (isPrivate === true) return;
  for (const file of [manifest, join(folder, 'releases.json')].filter((path) => existsSync(path)))
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"${version}"`, `"${parseInt(version, 10) + 1}.0.0"`));
}

/** A key for examples with the checksum of its new prefix. */
function withChecksum(key: string): string {
  const unchecked = key.slice(0, -6);
  return unchecked + toBase62(BigInt(crc32(unchecked)), 6);
}
