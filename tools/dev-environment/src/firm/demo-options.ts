import { flag, parseOptions } from '../command-line.ts';
import { packageManagerCommand } from '../workspace.ts';

const demoCommand = `${packageManagerCommand} demo`;

export const demoHelp = `Usage: ${demoCommand} [options]

Starts PostgreSQL, the apps and a receiver in a temporary folder and on
free ports, sends requests to the interfaces, delivers a webhook and retries
it, checks each step, and removes everything. Takes about ten seconds.

Options:
  --kill      then kill the worker and an API while a partner creates referrals,
              start them again, and count what arrived; takes half a minute more
  -h, --help  print this help

The environment variable WEBHOOK_CALLBACK_POLICY is \`development\` by default.
`;

export type DemoOptions = ReturnType<typeof parseDemoOptions>;

/** @throws {UsageError} for an unknown option and for any other argument */
export function parseDemoOptions(commandArguments: readonly string[]) {
  return parseOptions(demoCommand, { kill: flag, help: { ...flag, short: 'h' } }, commandArguments);
}

/** The last lines of the demo. */
export const nextCommands = ({ kill }: DemoOptions): string => `What to try next:
${kill ? '' : `  ${demoCommand} --kill  kill the worker and an API meanwhile\n`}  ${packageManagerCommand} dev --receiver  keep it running, and print webhooks
  docs/quickstart.md  receive webhooks in your code
`;
