import { RefusedError } from '@deedwire/actions';
import { commandNames, operatorCommand, type Service } from '@deedwire/core';
import { messageOf, UnconfirmedCommitError } from '@deedwire/store';
import { Command, CommanderError, Help } from 'commander';
import { addAccountCommands, addInterfaceCommands } from './commands/account.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addCellCommands } from './commands/cell.ts';
import { addClientCommands } from './commands/client.ts';
import { addContactCommands } from './commands/contact.ts';
import { addCredentialCommands } from './commands/credential.ts';
import { addDatabaseCommands } from './commands/database.ts';
import { addDeliveryCommands } from './commands/delivery.ts';
import { addEnvironmentCommands } from './commands/environment.ts';
import { addListenerCommands } from './commands/listener.ts';
import { addOrganizationCommands } from './commands/organization.ts';
import { addPersonCommands } from './commands/person.ts';
import { addPortalCommands } from './commands/portal.ts';
import { addSecretsCommands } from './commands/secrets.ts';
import { addSubscriptionCommands } from './commands/subscription.ts';
import { addVersionCommands } from './commands/version.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { createOutput, createShell, type Output, type Shell, type Surroundings } from './shell.ts';
import { UnknownAnswerError } from './verb.ts';

/** Adds nouns of an application to the program, or verbs to nouns of the platform. */
export type AddCommands = (program: Command, shell: Shell) => void;

export interface Application {
  service: Service;
  commands: readonly AddCommands[];
}

const exitCodes = { succeeded: 0, failed: 1, wrongUsage: 2, unknown: 3 };

/**
 * Runs a command line without the program name. Returns the exit code.
 *
 * @param load loads the application, whose faults are reported as those of a command
 */
export async function runOperator(
  load: () => Promise<Application>,
  surroundings: Surroundings,
  commandArguments: readonly string[],
): Promise<number> {
  const isJson = commandArguments.includes('--json');
  try {
    const { service, commands } = await load();
    const shell = createShell(service, surroundings, isJson);
    await createProgram(shell, isJson, commands).parseAsync(commandArguments, { from: 'user' });
    return exitCodes.succeeded;
  } catch (error) {
    const stderr = createOutput(surroundings.stderr);
    return isJson ? reportJson(stderr, error) : report(stderr, error);
  }
}

function createProgram(shell: Shell, isJson: boolean, commands: readonly AddCommands[]): Command {
  const program = new Command(operatorCommand())
    .description(
      `Manage accounts, credentials, webhooks, persons, versions, the portal, secrets, the database and cells. Uses DATABASE_URL, or the database of a running \`${commandNames().dev}\`.`,
    )
    .configureHelp({
      optionDescription: (option) => `${option.mandatory ? '(required) ' : ''}${new Help().optionDescription(option)}`,
    })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      // A program that reads JSON gets the message as JSON.
      writeErr: (text) => isJson || shell.stderr.write(text),
      // The width of a pseudo terminal whose size was never set is 0.
      getOutHelpWidth: () => shell.stdout.columns || 80,
    });
  addOrganizationCommands(program, shell);
  addAccountCommands(program, shell);
  addInterfaceCommands(program, shell);
  for (const add of commands) add(program, shell);
  addClientCommands(program, shell);
  addCredentialCommands(program, shell);
  addContactCommands(program, shell);
  addSubscriptionCommands(program, shell);
  addListenerCommands(program, shell);
  addDeliveryCommands(program, shell);
  addWebhookCommands(program, shell);
  addPersonCommands(program, shell);
  addPortalCommands(program, shell);
  addSecretsCommands(program, shell);
  addAuditCommands(program, shell);
  addVersionCommands(program, shell);
  addEnvironmentCommands(program, shell);
  addDatabaseCommands(program, shell);
  addCellCommands(program, shell);
  nameHelp(program, program.name());
  refuseMistakenOptions(program);
  return program;
}

/** An error names the help of its command, which would hide it. */
function nameHelp(command: Command, name: string): void {
  command.showHelpAfterError(`See: ${name} --help`);
  for (const child of command.commands) nameHelp(child, `${name} ${child.name()}`);
}

/** Otherwise the last value would replace the others, and an option would become the value of the one before it. */
function refuseMistakenOptions(command: Command): void {
  for (const option of command.options.filter(({ required, variadic }) => required && !variadic)) {
    let passed = 0;
    command.on(`option:${option.name()}`, (value: string) => {
      passed += 1;
      if (passed > 1) command.error(`error: pass one --${option.name()}`);
      if (command.options.some(({ long }) => long === value))
        command.error(`error: --${option.name()} has no value before ${value}`);
    });
  }
  for (const child of command.commands) refuseMistakenOptions(child);
}

function report(stderr: Output, error: unknown): number {
  // Commander has already written its message.
  if (!(error instanceof CommanderError)) stderr.write(`error: ${describe(error)}\n`);
  return exitCodeOf(error);
}

function reportJson(stderr: Output, error: unknown): number {
  const exitCode = exitCodeOf(error);
  if (exitCode === exitCodes.succeeded) return exitCode;
  stderr.write(
    `${JSON.stringify({ error: { code: codeOf(error, exitCode), message: describe(error).replace(/^error: /, '') } })}\n`,
  );
  return exitCode;
}

function codeOf(error: unknown, exitCode: number): string {
  if (exitCode === exitCodes.wrongUsage) return 'WRONG_USAGE';
  if (error instanceof UnknownAnswerError) return codeOf(error.cause, exitCode);
  if (error instanceof RefusedError) return error.code;
  return error instanceof UnconfirmedCommitError ? 'UNCONFIRMED' : 'FAILED';
}

/** The exit code of Commander is 0 after `--help`. */
function exitCodeOf(error: unknown): number {
  if (error instanceof UnknownAnswerError) return exitCodes.unknown;
  if (!(error instanceof CommanderError)) return exitCodes.failed;
  return error.exitCode === 0 ? exitCodes.succeeded : exitCodes.wrongUsage;
}

function describe(error: unknown): string {
  const message = messageOf(error);
  return error instanceof Error && error.cause instanceof Error ? `${message} (${describe(error.cause)})` : message;
}
