import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { chainEntry, emptyChain, parseLine, toEntryJson } from './export-line.ts';

const stored = {
  at: new Date('2026-11-20T10:00:00.123Z'),
  number: '9007199254740993',
  login: 'ada_login',
  actorType: 'OPERATOR' as const,
  actor: 'ada\u2028"\n',
  address: null,
  requestId: 'run-1',
  transactionId: '77',
  action: 'credential.revoke',
  subject: 'k1',
  accountId: null,
  detailsJson: '{"n": 9007199254740993}',
};

const json =
  '{"at":"2026-11-20T10:00:00.123Z","number":"9007199254740993","login":"ada_login","actorType":"OPERATOR",' +
  '"actor":"ada\u2028\\"\\n","address":null,"requestId":"run-1","transactionId":"77","action":"credential.revoke",' +
  '"subject":"k1","accountId":null,"details":{"n": 9007199254740993}}';

test('writes an entry as JSON without a line break, with the exact numbers of its details', () => {
  expect(toEntryJson(stored)).toBe(json);
});

test('a line contains its number, the hash of the line before, the entry and the hash of all that', () => {
  const first = chainEntry(emptyChain, json);
  const content = `{"line":1,"previous":"${'0'.repeat(64)}","entry":${json}`;
  const hash = createHash('sha256').update(`${content}}`).digest('hex');
  expect(first).toEqual({ text: `${content},"hash":"${hash}"}`, end: { line: 1, hash } });
  expect(JSON.parse(chainEntry(first.end, json).text)).toMatchObject({ line: 2, previous: hash });
});

test('reads a line back', () => {
  const { text, end } = chainEntry({ line: 41, hash: 'a'.repeat(64) }, json);
  expect(parseLine(text)).toEqual({
    line: 42,
    previous: 'a'.repeat(64),
    entry: json,
    position: { atMs: Date.parse('2026-11-20T10:00:00.123Z'), number: '9007199254740993' },
    hash: end.hash,
    isIntact: true,
  });
});

test('a changed line is not intact', () => {
  const { text } = chainEntry(emptyChain, json);
  for (const changed of [text.replace('k1', 'k2'), text.replace('": 9', '":9'), text.replace('"line":1', '"line":2')]) {
    expect(parseLine(changed)).toMatchObject({ isIntact: false });
  }
});

test.each([
  ['an empty line', ''],
  ['another object', '{"line":1}'],
  ['a part of a line', chainEntry(emptyChain, json).text.slice(0, -1)],
  ['a carriage return at its end', `${chainEntry(emptyChain, json).text}\r`],
  ['an entry that is not JSON', chainEntry(emptyChain, '{"at":}').text],
  ['an entry without a place', chainEntry(emptyChain, '{"at":"2026-11-20T10:00:00Z"}').text],
  ['an entry without a time', chainEntry(emptyChain, '{"at":"yesterday","number":"1"}').text],
])('rejects %s', (_name, text) => {
  expect(parseLine(text)).toBeNull();
});
