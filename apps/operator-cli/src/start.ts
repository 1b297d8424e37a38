import type { Service } from '@deedwire/core';
import { type AddCommands, runOperatorProcess } from '@deedwire/operator';
import { buildOf } from '@deedwire/service-runtime';

interface Deployed {
  readonly service: Service;
  /** Its own commands. */
  readonly commands?: () => Promise<readonly AddCommands[]>;
}

const load = async () => {
  const { service, commands }: Deployed = await import('./generated/service.ts');
  return { service, commands: (await commands?.()) ?? [] };
};
await runOperatorProcess(load, buildOf(import.meta.url), process.argv.slice(2));
