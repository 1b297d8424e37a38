import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Service } from '@deedwire/core';
import { defaultReceiverPort, portVariables } from './dev-config.ts';
import { packageManagerCommand } from './workspace.ts';

/** A command line is not valid. The message names the argument and the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The values of options.
 *
 * @param command as the user writes it
 * @throws {UsageError} for an unknown option and for any other argument
 */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  options: Options,
  commandArguments: readonly string[],
): ReturnType<typeof parseArgs<{ options: Options }>>['values'] {
  try {
    return parseArgs({ args: [...commandArguments], options }).values;
  } catch (cause) {
    // Node appends advice about positional arguments, which these commands do not have.
    const [problem = ''] = cause instanceof Error ? cause.message.split('. ') : [];
    throw new UsageError(`${problem.replace(/\.$/, '')}. \`${command} --help\` lists the options.`, { cause });
  }
}

const command = `${packageManagerCommand} dev`;
export const flag = { type: 'boolean', default: false } as const;

export type DevOptions = ReturnType<typeof parseDevOptions>;

/** @param service whose variables and ports it names */
export function devHelp(service: Service): string {
  const variables = portVariables(service);
  const firstAdmin = variables.findIndex(([name]) => name.endsWith('_API_ADMIN_PORT'));
  const notes = new Map([
    [0, '; 0 selects a free port'],
    [firstAdmin, '; health and metrics'],
  ]);
  const ports = variables.map(
    ([name, defaultPort], index) => `  ${name.padEnd(23)}  default ${defaultPort}${notes.get(index) ?? ''}\n`,
  );
  return `Usage: ${command} [options]

Starts PostgreSQL, the apps and sample data on this machine, and keeps them running until Ctrl-C.

Options:
  --receiver        start a sample receiver, made with @deedwire/webhook-receiver, that prints each event as it arrives;
                    it is subscribed to every event type of the sample account of each interface
  --existing        use a database that was migrated otherwise, add sample accounts to it, and send nothing to its
                    subscriptions
  --service FOLDER  run the service of this folder (default: the first one in the package.json of the repository)
  -h, --help        print this help

Environment:
  DEEDWIRE_HOME            folder for data and credentials (default: .local in the repository, or in FOLDER)
  DATABASE_URL             a PostgreSQL database to use in place of the embedded server; it can have other tables, and
                           only the schemas deedwire and deedwire_dev are created and changed
  DATABASE_DIRECT_URL      the same database without a transaction pooler
  DATABASE_SCHEMA          the schema of its tables (default: where they are, and deedwire for a new database)
${ports.join('')}  WEBHOOK_WORKER_PORT      default 4003; health and metrics
  RECEIVER_PORT            default ${defaultReceiverPort(service)}; used with --receiver
  DOCUMENTATION_URL        what errors link to (default: the site of \`pnpm site\` if it was built, otherwise docs/)
  LOG_LEVEL                default info
  GID_NAMESPACE            default ${service.names.gidNamespace}
  WEBHOOK_CALLBACK_POLICY  default development, which allows callback URLs on this machine
`;
}

/** @throws {UsageError} for an unknown option and for any other argument */
export function parseDevOptions(commandArguments: readonly string[]) {
  return parseOptions(
    command,
    { receiver: flag, existing: flag, service: { type: 'string' }, help: { ...flag, short: 'h' } },
    commandArguments,
  );
}
