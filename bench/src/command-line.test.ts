import { expect, it } from 'vitest';
import type { Bench } from './bench.ts';
import { helpText, parseCommand } from './command-line.ts';

const run: Bench['run'] = () => Promise.reject(new Error('not called'));
const engine: Bench = {
  name: 'engine',
  summary: 'the engine against queues',
  parts: { rates: 'deliveries per second', latency: 'from commit to first byte' },
  options: {
    'per-round': { value: 'number', summary: 'deliveries per round', isCount: true },
    stored: { value: 'number', summary: 'deliveries that are stored before', isCount: true },
  },
  savesParts: true,
  run,
};
const sender: Bench = { name: 'sender', summary: 'one request', run };
const queries: Bench = { ...sender, name: 'queries', parts: { scalar: 'one scalar' } };
const services: Bench = { ...sender, name: 'services', options: { other: { value: 'URL', summary: 'a running one' } } };
const benches = [engine, queries, sender, services];

it('selects the bench and its options', () => {
  expect(parseCommand(['engine', '--quick', '--json', '--only', 'latency', '--per-round', '50'], benches)).toEqual({
    kind: 'run',
    bench: engine,
    json: true,
    save: false,
    resume: false,
    options: { quick: true, only: 'latency', perRound: 50, values: { 'per-round': '50' } },
  });
  expect(parseCommand(['engine', '--stored', '5000000'], benches)).toMatchObject({ options: { stored: 5_000_000 } });
  expect(parseCommand(['engine', '--save', '--only', 'rates'], benches)).toMatchObject({ save: true });
  expect(parseCommand(['engine', '--save', '--resume'], benches)).toMatchObject({ resume: true });
  expect(parseCommand(['sender', '--save'], benches)).toEqual({
    kind: 'run',
    bench: sender,
    json: false,
    save: true,
    resume: false,
    options: { quick: false, only: undefined, perRound: undefined, values: {} },
  });
});

it('passes the options of a bench to it', () => {
  expect(parseCommand(['services', '--other', 'http://127.0.0.1:1'], benches)).toMatchObject({
    kind: 'run',
    options: { values: { other: 'http://127.0.0.1:1' } },
  });
});

it('selects the page', () => {
  expect(parseCommand(['page'], benches)).toEqual({ kind: 'page' });
});

it('shows the help on request', () => {
  expect(parseCommand(['engine', '--help'], benches)).toEqual({ kind: 'help' });
});

it('describes every bench and every part in the help', () => {
  const help = helpText(benches);
  expect(help).toContain('  engine   the engine against queues\n');
  expect(help).toContain('  sender   one request\n');
  expect(help).toContain('    rates         deliveries per second\n');
  expect(help).toContain('  --per-round <number>  deliveries per round\n');
  expect(help).toContain('  --stored <number>     deliveries that are stored before\n');
  expect(help).toContain('Options of services:\n  --other <URL>         a running one\n');
});

it.each([
  [['toaster'], 'There is no bench "toaster". Known benches: engine, queries, sender, services.'],
  [[], 'Name one bench.'],
  [['sender', 'engine'], 'Name one bench.'],
  [['sender', '--only', 'rates'], 'The bench "sender" has no option --only.'],
  [['queries', '--per-round', '5'], 'The bench "queries" has no option --per-round.'],
  [['sender', '--other', 'x'], 'The bench "sender" has no option --other.'],
  [['engine', '--only', 'toast'], 'There is no part "toast". Known parts: rates, latency.'],
  [['queries', '--save', '--only', 'scalar'], '--save stores all parts of the bench "queries" at once.'],
  [['queries', '--stored', '5'], 'The bench "queries" has no option --stored.'],
  [['engine', '--stored', 'all'], '--stored must be a whole number from 1 to 9,999,999, not "all".'],
  [['engine', '--save', '--stored', '5'], '--save stores complete runs only.'],
  [['engine', '--save', '--quick'], '--save stores complete runs only.'],
  [['engine', '--resume'], '--resume goes on with --save of all parts of delivery or pressure.'],
  [['engine', '--per-round', '0'], '--per-round must be a whole number from 1 to 9,999,999, not "0".'],
])('rejects %j', (args, problem) => {
  expect(parseCommand(args, benches)).toEqual({ kind: 'invalid', problem });
});

it('rejects an unknown option', () => {
  expect(parseCommand(['sender', '--slow'], benches)).toEqual({
    kind: 'invalid',
    problem: expect.stringContaining("Unknown option '--slow'"),
  });
});
