/** The program behind `pnpm bench`. `scripts/bench.ts` installs the peers and starts it. */
import { BenchProblem } from './bench.ts';
import { benches } from './benches.ts';
import { helpText, parseCommand } from './command-line.ts';
import { saveResult, writePage } from './page/write-page.ts';

// The reader of the report, for example `head`, has ended: exit with the code of SIGPIPE, which Node ignores.
process.stdout.on('error', () => process.exit(141));

const command = parseCommand(process.argv.slice(2), benches);
if (command.kind === 'help') process.stdout.write(helpText(benches));
else if (command.kind === 'page') await writePage();
else if (command.kind === 'invalid') {
  process.stderr.write(`${command.problem}\n\n${helpText(benches)}`);
  process.exitCode = 2;
} else {
  const { bench, json, save, options } = command;
  try {
    const result = await bench.run({ ...options, progress: (line) => process.stderr.write(`${line}\n`) });
    if (save) {
      saveResult(bench.name, result.json, options.only !== undefined);
      await writePage();
    }
    process.stdout.write(`${json ? JSON.stringify(result.json, null, 2) : result.markdown}\n`);
  } catch (error) {
    if (!(error instanceof BenchProblem)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
