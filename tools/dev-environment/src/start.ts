/** `pnpm start <app> [--service <folder>]`: starts an app of a service from its sources. Settings are in the environment, as in production. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { appOf } from '@deedwire/core';
import { fail } from '@deedwire/development';
import type { InterfaceCode } from '@deedwire/graphql-server';
import { type Layout, loadInterface, loadService, readChosenLayout } from '@deedwire/layout';
import { type RunningApp, runMain } from '@deedwire/service-runtime';
import { workspaceRoot } from './workspace.ts';

/** Null for the worker. */
interface Chosen {
  readonly layout: Layout;
  readonly interfaceName: string | null;
}

/** @throws {Error} that says what can be chosen */
async function readArguments(): Promise<Chosen> {
  const { values, positionals } = parseArgs({ options: { service: { type: 'string' } }, allowPositionals: true });
  const layout = await readChosenLayout(values.service);
  const apps = new Map<string, string | null>(layout.interfaceNames.map((name) => [appOf(name), name]));
  apps.set('webhook-worker', null);
  const interfaceName = positionals.length === 1 ? apps.get(positionals[0] ?? '') : undefined;
  if (interfaceName === undefined)
    throw new Error(
      `Usage: pnpm start <app> [--service <folder>]. The apps of ${layout.root} are ${[...apps.keys()].join(', ')}.`,
    );
  return { layout, interfaceName };
}

async function start({ layout, interfaceName }: Chosen): Promise<RunningApp> {
  const { service } = await loadService(layout);
  const app = pathToFileURL(join(workspaceRoot, layout.root, 'src/service.ts')).href;
  if (interfaceName === null) {
    const { startWorker } = await import('@deedwire/worker');
    return startWorker(service, { app, servesAdmin: true });
  }
  const { startInterface } = await import('@deedwire/graphql-server');
  return startInterface(service, interfaceName, {
    app,
    servesAdmin: true,
    code: () => loadInterface<InterfaceCode>(layout, interfaceName),
  });
}

const chosen = await readArguments().catch((error: Error) => error);
if (chosen instanceof Error) fail(chosen.message, 2);
else await runMain(() => start(chosen));
