import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { devHelp, parseDevOptions, UsageError } from './command-line.ts';

test.each([
  [[], {}],
  [['--receiver'], { receiver: true }],
  [['--help'], { help: true }],
  [['--receiver', '-h'], { receiver: true, help: true }],
  [['--service', 'shop'], { service: 'shop' }],
  [['--existing'], { existing: true }],
])('parses %j', (commandArguments, options) => {
  expect(parseDevOptions(commandArguments)).toEqual({ receiver: false, existing: false, help: false, ...options });
});

test.each([
  [['-x'], "Unknown option '-x'"],
  [['receiver'], "Unexpected argument 'receiver'"],
  [['--receiver=4004'], "Option '--receiver' does not take an argument"],
])('rejects %j', (commandArguments, problem) => {
  expect(() => parseDevOptions(commandArguments)).toThrow(UsageError);
  expect(() => parseDevOptions(commandArguments)).toThrow(
    new RegExp(`^${problem}\\. \`npx -y pnpm@[\\d.]+ dev --help\` lists the options\\.$`),
  );
});

test('the help names the ports of the service', () => {
  expect(devHelp(testService)).toContain(`
  CUSTOMER_API_PORT        default 4004; 0 selects a free port
  SUPPLIER_API_PORT        default 4005
  CUSTOMER_API_ADMIN_PORT  default 4104; health and metrics
`);
});

test('the help fits a terminal of 120 columns', () => {
  expect(
    devHelp(testService)
      .split('\n')
      .filter((line) => line.length > 120),
  ).toEqual([]);
});
