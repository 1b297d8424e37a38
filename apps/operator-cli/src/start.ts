import type { Service } from '@deedwire/core';
import type { AddCommands } from '@deedwire/operator';
import { run } from './run.ts';

interface Deployed {
  readonly service: Service;
  /** Its own commands. */
  readonly commands?: () => Promise<readonly AddCommands[]>;
}

const load = async () => {
  const { service, commands }: Deployed = await import('./generated/service.ts');
  return { service, commands: (await commands?.()) ?? [] };
};
await run(load, process.argv.slice(2));
