/** `pnpm new`: writes the files of a new event type, a version of an event type, or a version of an interface. */
import { runCommand } from '../tools/scaffold/src/index.ts';

process.exitCode = await runCommand(process.argv.slice(2), (text) => process.stdout.write(text));
