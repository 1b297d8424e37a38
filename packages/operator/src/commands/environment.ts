import { rename, writeFile } from 'node:fs/promises';
import { type ActionContext, describeUnknownBuilds, exportEnvironment } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import { backgroundTimeouts } from '@deedwire/store';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import { type Shell, writePart } from '../shell.ts';
import { addVerb, notes } from '../verb.ts';

/** It reads what apps have written in 400 days: their logins could otherwise make it too slow for every answer. */
const timeouts = { ...backgroundTimeouts, statementMs: 600_000 };

export function addEnvironmentCommands(program: Command, shell: Shell): void {
  const noun = program.command('environment').description('export what runs, for `contract-check can-i-deploy`');

  addVerb(noun, 'export', 'print what runs, what is pinned and what is used, as one JSON object')
    .requiredOption('--name <name>', 'the name of the environment, for example production')
    .option('--out <file>', 'write this file instead, in one step: a reader never sees a part of it')
    .option('--rollback <app@version...>', 'also the contracts of builds without a process that may be deployed again')
    .addHelpText(
      'after',
      notes(`
Changes nothing. The file has no secrets and no personal data, but the ids of clients, accounts and subscriptions.

  ${operatorCommand()} environment export --name production --out production.json`),
    )
    .action(async ({ name, out, rollback = [] }: { name: string; out?: string; rollback?: string[] }) => {
      const exportWithWarnings = async (context: ActionContext) => {
        // No error: what a login of one app stores would end the exports for all apps.
        for (const warning of await describeUnknownBuilds(context, rollback)) shell.warn(warning);
        return exportEnvironment(context, name, rollback);
      };
      const exported = await withContext(shell, exportWithWarnings, timeouts);
      const text = `${JSON.stringify(exported)}\n`;
      if (out === undefined) return writePart(shell.stdout.writeUnescaped, text);
      const unfinished = `${out}.unfinished`;
      await writeFile(unfinished, text, { flush: true });
      await rename(unfinished, out);
    });
}
