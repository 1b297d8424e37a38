import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chainEntry, type ChainEnd, emptyChain } from './export-line.ts';
import { type ExportedEntry, readRuns } from './read-runs.ts';
import { verifyChain } from './verify-chain.ts';

const folder = mkdtempSync(join(tmpdir(), 'deedwire-audit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const entry = (number: number, second = number): string =>
  `{"at":"2026-11-20T10:00:${String(second).padStart(2, '0')}.000Z","number":"${number}","action":"client.pin"}`;

/** The lines of the entries, which continue `end`. */
function seal(entries: readonly string[], end: ChainEnd = emptyChain): { lines: string[]; end: ChainEnd } {
  const lines: string[] = [];
  for (const json of entries) {
    const chained = chainEntry(end, json);
    lines.push(`${chained.text}\n`);
    end = chained.end;
  }
  return { lines, end };
}

const sealed = seal([1, 2, 3, 4, 5, 6].map((number) => entry(number)));
const { lines } = sealed;

/** Verifies files with these texts, named 1, 2, …. Returns what was found, as `<file>:<line> <problem>`. */
async function verify(...texts: (string | Buffer)[]) {
  const files = texts.map((text, index) => {
    const file = join(folder, String(index + 1));
    writeFileSync(file, text);
    return file;
  });
  const problems: string[] = [];
  const chain = await verifyChain(
    files,
    ({ file, fileLine, problem }) => problems.push(`${file.slice(folder.length + 1)}:${fileLine} ${problem}`),
    () => {},
  );
  return { problems, chain };
}

const problemsOf = async (...texts: (string | Buffer)[]) => (await verify(...texts)).problems;
const file = (...numbers: number[]) => numbers.map((number) => lines[number - 1]).join('');

test('accepts exports in their order, including an empty one', async () => {
  const { problems, chain } = await verify(file(1, 2), '', file(3, 4, 5), file(6));
  expect(problems).toEqual([]);
  expect(chain).toMatchObject({
    entries: 6,
    firstLine: 1,
    previousHash: '0'.repeat(64),
    lastLine: 6,
    lastHash: sealed.end.hash,
  });
  expect(chain.runs.map(({ offset, entries }) => [offset, entries])).toEqual([
    [0, 2],
    [0, 3],
    [0, 1],
  ]);
});

test('accepts the end of a chain, and says where it begins', async () => {
  const { problems, chain } = await verify(file(4, 5, 6));
  expect(problems).toEqual([]);
  expect(chain).toMatchObject({ entries: 3, firstLine: 4, previousHash: JSON.parse(lines[2] ?? '').hash });
});

test('accepts a last line without a line break', async () => {
  expect(await problemsOf(file(1, 2).trimEnd(), file(3))).toEqual([]);
});

test('finds nothing in no lines', async () => {
  expect(await verify('')).toEqual({
    problems: [],
    chain: { entries: 0, firstLine: null, previousHash: null, lastLine: null, lastHash: null, runs: [] },
  });
});

test('finds a last line that is cut off', async () => {
  expect(await problemsOf(file(1, 2, 3).slice(0, -10))).toEqual([
    '1:3 it is incomplete: the file was truncated, or its export was interrupted',
  ]);
});

test('does not find that the last lines are gone: only the noted hash shows it', async () => {
  const { problems, chain } = await verify(file(1, 2, 3));
  expect(problems).toEqual([]);
  expect(chain.lastHash).not.toBe(sealed.end.hash);
});

test('finds an edited line', async () => {
  expect(await problemsOf(file(1, 2, 3).replace('10:00:02', '10:00:09'))).toEqual([
    expect.stringMatching(/^1:2 its content was changed: it does not have the hash [0-9a-f]{64}$/),
  ]);
});

test('finds an edited line whose hash was calculated again, at the next line', async () => {
  const before = { line: 1, hash: JSON.parse(lines[0] ?? '').hash };
  const edited = seal([entry(9)], before);
  expect(await problemsOf(file(1) + edited.lines.join('') + file(3, 4))).toEqual([
    expect.stringMatching(/^1:3 it continues a line with the hash .*, but line 2 has .*: that line was replaced/),
  ]);
});

test.each([
  [
    'a removed line',
    [file(1, 2, 4, 5)],
    ['1:3 it is line 4 of the export, but line 3 is expected: a line was removed or moved'],
  ],
  [
    'removed lines',
    [file(1, 5, 6)],
    ['1:2 it is line 5 of the export, but line 2 is expected: 3 lines were removed or moved'],
  ],
  [
    'swapped lines',
    [file(1, 3, 2, 4)],
    [
      '1:2 it is line 3 of the export, but line 2 is expected: a line was removed or moved',
      '1:3 it is line 2 of the export, but line 4 is expected: lines were swapped or repeated',
      '1:4 it is line 4 of the export, but line 3 is expected: a line was removed or moved',
    ],
  ],
  [
    'a repeated line',
    [file(1, 2, 2, 3)],
    ['1:3 it is line 2 of the export, but line 3 is expected: lines were swapped or repeated'],
  ],
  [
    'files in the wrong order',
    [file(3, 4), file(1, 2), file(5, 6)],
    [
      '2:1 it is line 1 of the export, but line 5 is expected: a file is missing, or the files are in the wrong order',
      '3:1 it is line 5 of the export, but line 3 is expected: a file is missing, or the files are in the wrong order',
    ],
  ],
  [
    'a missing file',
    [file(1, 2), file(5, 6)],
    ['2:1 it is line 5 of the export, but line 3 is expected: a file is missing, or the files are in the wrong order'],
  ],
  ['a line of something else', [`${file(1)}{"line":2}\n${file(3)}`], ['1:2 it is not a line of an audit export']],
  [
    'an empty line',
    [`${file(1)}\n${file(2)}`],
    [
      '1:2 it is not a line of an audit export',
      '1:3 it is line 2 of the export, but line 3 is expected: lines were swapped or repeated',
    ],
  ],
])('finds %s', async (_name, texts, problems) => {
  expect(await problemsOf(...texts)).toEqual(problems);
});

test('finds the line of another export, and bytes that are not UTF-8', async () => {
  const other = seal([7, 8].map((number) => entry(number)));
  expect(await problemsOf(file(1) + (other.lines[1] ?? ''))).toEqual([
    expect.stringMatching(/^1:2 it continues a line with the hash .* or the lines are from different exports$/),
  ]);
  expect(await problemsOf(Buffer.concat([Buffer.from(file(1)), Buffer.from([0xff, 0x0a])]))).toEqual([
    '1:2 it is not a line of an audit export',
  ]);
});

test('finds a first line that continues another', async () => {
  const first = seal([entry(1)], { line: 0, hash: 'a'.repeat(64) });
  expect(await problemsOf(first.lines.join(''))).toEqual([
    '1:1 it is the first line of the export, but names a line before it',
  ]);
});

test('rejects a file that does not exist', async () => {
  const missing = join(folder, 'missing');
  await expect(
    verifyChain(
      [missing],
      () => {},
      () => {},
    ),
  ).rejects.toThrow(`Cannot read ${missing}.`);
});

test('merges the runs of exports into the order of the audit log, including of exports in one file and across reads', async () => {
  // 3,000 lines are several reads of the file. The second export begins with two late entries.
  const numbers = Array.from({ length: 3_000 }, (_, index) => index + 10);
  const late = new Set([11, 2_000]);
  const first = seal(numbers.filter((number) => !late.has(number)).map((number) => entry(number, 1)));
  const second = seal(
    [11, 2_000, 3_010, 3_011].map((number) => entry(number, 1)),
    first.end,
  );
  const third = seal([entry(5_000, 0)], second.end);
  const { problems, chain } = await verify([...first.lines, ...second.lines].join(''), third.lines.join(''));
  expect(problems).toEqual([]);
  expect(chain.runs.map(({ entries }) => entries)).toEqual([2_998, 4, 1]);
  const merged: ExportedEntry[] = [];
  for await (const exported of readRuns(chain.runs)) merged.push(exported);
  expect(merged.map(({ number }) => Number(number))).toEqual([5_000, ...numbers, 3_010, 3_011]);
  expect(merged[2]).toMatchObject({ line: 2_999, json: entry(11, 1) });
});

test('opens a run only when its first entry comes next', async () => {
  let open = 0;
  let openMax = 0;
  const runs = Array.from({ length: 100 }, (_, index) => {
    const first = { atMs: index, number: '1' };
    return { file: '', offset: 0, entries: 1, first, last: first };
  });
  async function* readRun({ first }: (typeof runs)[number]): AsyncGenerator<ExportedEntry> {
    open += 1;
    openMax = Math.max(openMax, open);
    yield { ...first, json: '', file: '', line: 1 };
    open -= 1;
  }
  let entries = 0;
  for await (const _ of readRuns(runs, readRun)) entries += 1;
  expect({ entries, openMax }).toEqual({ entries: 100, openMax: 1 });
});
