import { expect, test } from 'vitest';
import { formatLogLine } from './format-log-line.ts';

test('a JSON line becomes its level, its message and its details', () => {
  const line =
    '{"level":30,"time":"2026-11-20T10:00:00.000Z","name":"lender-api","msg":"listening","url":"http://127.0.0.1:4001","n":{"a":1}}';
  expect(formatLogLine('lender-api', line)).toBe('lender-api      info  listening url=http://127.0.0.1:4001 n={"a":1}');
});

test.each(['', 'plain text', '{"broken', '[1]'])('%j stays as it is', (line) => {
  expect(formatLogLine('webhook-worker', line)).toBe(`webhook-worker  ${line}`);
});
