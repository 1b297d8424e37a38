import { expect, it } from 'vitest';
import { parseStatement } from './statement-log.ts';

const worker = 'deedwire-webhook-worker';

it.each([
  ['execute take-events: ', { name: 'take-events', phase: 'execute' }],
  ['bind take-events: select 1', { name: 'take-events', phase: 'bind' }],
  ['parse take-events: ', { name: 'take-events', phase: 'parse' }],
  ['execute <unnamed>: select now()', { name: 'select now()', phase: 'execute' }],
  ["statement: begin; set local lock_timeout = '1s'", { name: 'begin; set local', phase: 'statement' }],
])('reads "%s"', (text, expected) => {
  const line = `ours|${worker}|LOG:  duration: 0.125 ms  ${text}`;
  expect(parseStatement(line, worker)).toEqual({ database: 'ours', durationMs: 0.125, ...expected });
});

it('reads the statements of every pool of the application', () => {
  const line = `ours|${worker}-fan-out|LOG:  duration: 0.125 ms  execute fan-out-write-round: `;
  expect(parseStatement(line, worker)?.name).toBe('fan-out-write-round');
});

it.each([
  'ours|deedwire-lender-api|LOG:  duration: 0.125 ms  statement: listen x',
  `ours|${worker}|LOG:  checkpoint starting: time`,
  '      from webhook_event',
  '',
])('ignores "%s"', (line) => {
  expect(parseStatement(line, worker)).toBeNull();
});
