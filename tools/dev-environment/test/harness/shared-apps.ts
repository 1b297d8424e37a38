import { createServer } from 'node:http';
import type { InterfaceName } from '@deedwire/firm';
import { listen } from '@deedwire/testing';
import type { TestProject } from 'vitest/node';
import { createMigratedDatabaseOn } from './database.ts';
import { startTestApps } from './start-test-apps.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Responds with `SharedApps`. */
    sharedApps: { url: string };
  }
}

/** What a test file needs to use the shared apps. */
export interface SharedApps {
  urls: Record<InterfaceName, string>;
  /** For a superuser. */
  databaseUrl: string;
  operatorUrl: string;
}

/**
 * Global setup of test projects. Starts the apps that the test files of all of them share, in the process of the test run, when the
 * first test file asks for them. Stops them when the run ends.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject();
  if ('sharedApps' in run.getProvidedContext()) return undefined;
  const logLines: string[] = [];
  let starting: ReturnType<typeof start> | null = null;

  async function start() {
    const database = await createMigratedDatabaseOn(run.getProvidedContext().postgres);
    const { system, urls } = await startTestApps(database, {
      onLine: (_app, line) => void logLines.push(line),
    });
    const shared: SharedApps = {
      urls,
      databaseUrl: database.databaseUrl,
      operatorUrl: await database.urlFor('operator'),
    };
    return { shared, stop: () => system.stop().then(() => database.drop()) };
  }

  async function answer(url: URL): Promise<unknown> {
    if (url.pathname === '/log-lines') {
      const text = url.searchParams.get('text') ?? '';
      return logLines.filter((line) => line.includes(text));
    }
    starting ??= start();
    const { shared } = await starting;
    return shared;
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
    const started = await starting?.catch(() => null);
    await started?.stop();
  };
}
