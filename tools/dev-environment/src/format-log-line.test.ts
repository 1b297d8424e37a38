import { expect, test } from 'vitest';
import { formatLine, formatLogLine, isRoutineLine } from './format-log-line.ts';

const listening =
  '{"level":"info","time":"2026-11-20T10:00:00.000Z","name":"customer-api","msg":"listening","url":"http://127.0.0.1:4001","n":{"a":1},"none":null}';

test('prints the level, the message and the details of a JSON line', () => {
  expect(formatLogLine('customer-api', listening)).toBe(
    'customer-api    info   listening url=http://127.0.0.1:4001 n={"a":1}',
  );
});

test('prints warnings and errors in capitals', () => {
  expect(formatLogLine('webhook-worker', '{"level":"warn","msg":"not ready"}')).toBe(
    'webhook-worker  WARN   not ready',
  );
  expect(formatLogLine('webhook-worker', '{"level":"error","msg":"no database"}')).toBe(
    'webhook-worker  ERROR  no database',
  );
});

test.each(['', 'plain text', '{"broken', '[1]'])('keeps %j unchanged', (line) => {
  expect(formatLogLine('webhook-worker', line)).toBe(`webhook-worker  ${line}`);
});

test('indents further lines to the same column', () => {
  expect(formatLine('receiver', 'an event\n{\n  "id": 1\n}')).toBe(
    ['receiver        an event', '                {', '                  "id": 1', '                }'].join('\n'),
  );
});

test.each([
  [listening, 'starting', true],
  [listening, 'running', false],
  ['{"level":"info","msg":"request"}', 'starting', true],
  ['{"level":"info","msg":"request"}', 'running', false],
  ['{"level":"info","msg":"stopping"}', 'running', true],
  ['{"level":"info","msg":"stopped"}', 'stopping', true],
  ['{"level":"error","msg":"stopping failed"}', 'stopping', false],
  ['plain text', 'starting', false],
] as const)('classifies %s while %s', (line, phase, isRoutine) => {
  expect(isRoutineLine(line, phase)).toBe(isRoutine);
});
