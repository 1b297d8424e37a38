/** `pnpm operator [--service <folder>] <command>`: the operator CLI of a service, from its sources. */
import { loadService, readChosenLayout } from '@deedwire/layout';
import type { AddCommands } from '@deedwire/operator';
import { run } from '@deedwire/operator-cli/run';

const [first = '', second, ...rest] = process.argv.slice(2);
const isChosen = first === '--service';
await run(
  async () => {
    const { service, commands } = await loadService<AddCommands>(await readChosenLayout(isChosen ? second : undefined));
    return { service, commands: (await commands?.()) ?? [] };
  },
  isChosen ? rest : process.argv.slice(2),
);
