import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from '../workspace-files.ts';
import { anchorsOf } from './markdown.ts';

const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: workspaceRoot,
  encoding: 'utf8',
});
const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(workspaceRoot, file)));

test.each(files)('every link in %s has a target', (file) => {
  const text = readFileSync(join(workspaceRoot, file), 'utf8').replaceAll(/^```.*?^```$/gms, '');
  const broken = [...text.matchAll(/\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)/g)]
    .filter(([, path = '', target]) => !hasTarget(path === '' ? file : join(dirname(file), path), target))
    .map(([link]) => link);
  expect(broken).toEqual([]);
});

function hasTarget(path: string, target: string | undefined): boolean {
  const linked = join(workspaceRoot, path);
  return existsSync(linked) && (target === undefined || anchorsOf(readFileSync(linked, 'utf8')).includes(target));
}
