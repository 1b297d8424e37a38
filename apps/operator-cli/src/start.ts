import { run } from './run.ts';

const load = async () => ({
  service: (await import('@deedwire/firm')).firm,
  commands: (await import('@deedwire/firm/commands')).firmCommands,
});
await run(load, process.argv.slice(2));
