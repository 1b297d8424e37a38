/** `pnpm operator [--service <folder>] <command>`: the operator CLI of a service, from its sources. */
import { loadService, readChosenLayout } from '@deedwire/layout';
import { type AddCommands, runOperatorProcess } from '@deedwire/operator';
import { buildOfOperator } from './call-operator.ts';
import { homeOf } from './home.ts';

const [first = '', second, ...rest] = process.argv.slice(2);
const isChosen = first === '--service';
await runOperatorProcess(
  async () => {
    const layout = await readChosenLayout(isChosen ? second : undefined);
    // Where its `pnpm dev` writes.
    process.env['DEEDWIRE_HOME'] ||= homeOf(layout);
    const { service, commands } = await loadService<AddCommands>(layout);
    return { service, commands: (await commands?.()) ?? [] };
  },
  buildOfOperator(),
  isChosen ? rest : process.argv.slice(2),
);
