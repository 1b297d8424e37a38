import { createServer } from 'node:http';
import type { Service } from '@deedwire/core';
import { listen } from '@deedwire/testing';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import type { NameOf } from '../../src/application.ts';
import { createMigratedDatabaseOn } from './database.ts';
import { startTestApps } from './start-test-apps.ts';
import type { TestedApplication } from './tested-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Responds with `SharedApps` at `/<key>/?module=<URL>`, for a tested service and the module that exports it. */
    sharedApps: { url: string };
  }
}

/** What a test file needs to use the shared apps. */
export interface SharedApps<Served extends Service = Service> {
  urls: Record<NameOf<Served>, string>;
  /** For a superuser. */
  databaseUrl: string;
  operatorUrl: string;
}

/**
 * Global setup of test projects. Starts the apps of a service that the test files of all of them share, in the process of the test run,
 * when the first test file asks for them. Stops them when the run ends.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject();
  if ('sharedApps' in run.getProvidedContext()) return undefined;
  const { postgres } = run.getProvidedContext();
  const appsOf = new Map<string, Promise<SharedOnDemand>>();

  async function load(key: string, module: string): Promise<SharedOnDemand> {
    const exported: Record<string, TestedApplication> = await import(module);
    const tested = Object.values(exported).find((each) => each.key === key);
    if (tested === undefined) throw new Error(`${module} exports no tested service ${key}.`);
    return startOnDemand(tested, postgres);
  }

  async function answer({ pathname, searchParams }: URL): Promise<unknown> {
    const [, key = '', path = ''] = pathname.split('/');
    const loading = appsOf.get(key) ?? load(key, searchParams.get('module') ?? '');
    appsOf.set(key, loading);
    const apps = await loading;
    return path === 'log-lines' ? apps.logLines(searchParams.get('text') ?? '') : apps.start();
  }

  const server = createServer((request, response) => {
    answer(new URL(request.url ?? '', 'http://localhost')).then(
      (value) => response.end(JSON.stringify(value)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  const listening = await listen(server);
  run.provide('sharedApps', { url: `http://127.0.0.1:${listening.port}/` });
  return async () => {
    await listening.close();
    await Promise.all(Array.from(appsOf.values(), async (apps) => (await apps.catch(() => null))?.stop()));
  };
}

interface SharedOnDemand {
  logLines(text: string): string[];
  start(): Promise<SharedApps>;
  stop(): Promise<void>;
}

function startOnDemand<Served extends Service>(
  tested: TestedApplication<Served>,
  postgres: ProvidedContext['postgres'],
): SharedOnDemand {
  const lines: string[] = [];
  let starting: ReturnType<typeof start> | null = null;

  async function start() {
    const database = await createMigratedDatabaseOn(postgres, tested);
    const { system, urls } = await startTestApps(tested, database, { onLine: (_app, line) => void lines.push(line) });
    const shared: SharedApps<Served> = {
      urls,
      databaseUrl: database.databaseUrl,
      operatorUrl: await database.urlFor('operator'),
    };
    return { shared, stop: () => system.stop().then(() => database.drop()) };
  }

  return {
    logLines: (text) => lines.filter((line) => line.includes(text)),
    async start() {
      starting ??= start();
      return (await starting).shared;
    },
    async stop() {
      const started = await starting?.catch(() => null);
      await started?.stop();
    },
  };
}
