import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '@deedwire/core';
import { runOperatorProcess } from '@deedwire/operator';
import { buildOf, runMain } from '@deedwire/service-runtime';
import { Command } from 'commander';
import { runInterface } from '../run-interface.ts';
import { runWorker } from '../run-worker.ts';
import { CommandError } from './command-error.ts';
import { compareWithRelease } from './compare-with-release.ts';
import { devHelp } from './dev-text.ts';
import { check, generate } from './generate.ts';
import { init } from './init.ts';
import { findServiceFile, loadService, serviceFolder } from './load-service.ts';
import { removalStatements } from './removal.ts';

const program = new Command('deedwire')
  .description('Webhooks for an application: events in its own transactions, delivered to its customers.')
  .option('--service <file>', 'the module that exports `service` (default: deedwire/service.ts, .mts, .js or .mjs)')
  .enablePositionalOptions()
  .showHelpAfterError('See: deedwire --help');

const serviceFile = (): string => findServiceFile(process.cwd(), program.opts<{ service?: string }>().service);

program
  .command('init')
  .description('write the files of a service into the folder deedwire; it replaces no file')
  .option(
    '--name <name>',
    'of the service, for good: it begins the names of its database roles (default: that of the package)',
  )
  .option('--interface <name>', 'of its customers: they get a GraphQL API and a portal', 'customer')
  .option('--own', 'let the interface serve types, queries and mutations of the application too', false)
  .action(({ name = null, ...options }: { name?: string | null; interface: string; own: boolean }) =>
    init(process.cwd(), { name, ...options }),
  );

program
  .command('dev')
  .description('run everything on this machine: the worker, each interface and its portal')
  .option('--receiver', 'subscribe a receiver to every event type, which prints each event', false)
  .option('--existing', 'use a database that was migrated otherwise, and add an account of each interface to it', false)
  .addHelpText('after', devHelp)
  .action(async (options: { receiver: boolean; existing: boolean }) => {
    const { dev } = await import('./dev.ts');
    await dev(() => loadService(serviceFile()), options);
  });

program
  .command('generate')
  .description('write the schema of each payload and, of each version that has `serve`, the SDL and its types')
  .action(() => generate(serviceFile()));

program
  .command('check')
  .description(
    'compare payloads with what customers rely on, generated files with their sources, and code with its SDL',
  )
  .option(
    '--against [commit]',
    'compare each version, too, with that of a commit, a tag or a branch (default: the latest release, if the repository uses Changesets)',
  )
  .action(async ({ against }: { against?: string | true }) => {
    const file = serviceFile();
    if (!(await check(file))) process.exitCode = 1;
    else if (against !== undefined)
      process.exitCode = await compareWithRelease(file, against === true ? null : against);
  });

program
  .command('contracts')
  .description('write what this build of each process can do, for `contract-check can-i-deploy`')
  .argument('<folder>')
  .action(async (folder: string) => {
    const file = serviceFile();
    const { service, app } = await loadService(file);
    const { contractsOf } = await import('../contracts.ts');
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of await contractsOf(service, app, dirname(file))) {
      const written = join(folder, `${name}.json`);
      writeFileSync(written, text);
      process.stdout.write(`wrote  ${written}\n`);
    }
  });

program
  .command('migrate')
  .description('create or upgrade the tables, in the schema deedwire of the database DATABASE_URL')
  .helpOption(false)
  .allowUnknownOption()
  .argument('[options...]')
  .action((options: string[]) => operate(['database', 'migrate', ...options]));

program
  .command('worker')
  .description('deliver events until it is stopped')
  .action(() =>
    runMain(async () => {
      const { service, app } = await loadService(serviceFile());
      return runWorker(service, { app, servesAdmin: true });
    }),
  );

program
  .command('interface')
  .description('serve the GraphQL API and the portal of an interface until it is stopped')
  .argument('<name>')
  .action((name: string) =>
    runMain(async () => {
      const { service, app } = await loadService(serviceFile());
      if (!Object.hasOwn(service.interfaces, name))
        program.error(
          `error: the service has no interface ${name}. It has ${Object.keys(service.interfaces).join(', ')}.`,
        );
      return runInterface(service, name, { app, servesAdmin: true });
    }),
  );

program
  .command('remove')
  .description('print the statements that remove all of it from the database, and run none')
  .action(async () => {
    const { service } = await loadService(serviceFile());
    process.stdout.write(removalStatements(service));
  });

program
  .command('operator')
  .description('manage accounts, keys, subscriptions, deliveries and the database: `deedwire operator --help`')
  .helpOption(false)
  .allowUnknownOption()
  .argument('[command...]')
  .action((command: string[]) => operate(command.length === 0 ? ['--help'] : command));

async function operate(command: readonly string[]): Promise<void> {
  const file = serviceFile();
  // Where a running `deedwire dev` says which database it uses.
  process.env['DEEDWIRE_HOME'] ||= resolve(serviceFolder, '.dev');
  const { version } = buildOf(pathToFileURL(file).href);
  const contracts = async (): Promise<string> => {
    const { service, app } = await loadService(file);
    return (await import('../contracts.ts')).operatorContracts(service, app);
  };
  await runOperatorProcess(async () => await loadService(file), { version, contracts }, command);
}

await program.parseAsync().catch((error: unknown) => {
  if (!(error instanceof ServiceError || error instanceof CommandError)) throw error;
  program.error(`error: ${error.message}`);
});
